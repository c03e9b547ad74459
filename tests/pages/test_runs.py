"""The Runs page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.locale.text import plain
from explorer.runs import wrong_answers
from explorer.runs.archive import export, import_zip
from explorer.runs.lifecycle import read_note
from explorer.web import runtime
from model.folder import CONFIG, METRICS, NOTE, SHIPPED, SNAPSHOTS, CheckpointError, read_config, write_json
from model.importing.import_folder import import_folder
from tests.explorer.sent import messages
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import eval_line, save_run, write_metrics, write_status
from tests.model.importing import peer
from tests.pages.test_train import button, words
from tests.paths import ROOT


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr(runtime, "CHECKPOINTS", folder)
    return folder


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.run()
    return at.switch_page("pages/runs.py")


def film(at: AppTest) -> dict[str, object]:
    """The header of the film's payload."""
    ((header, _),) = messages(at)
    return header


def on_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state["runs_tab"] = tab
    return at.run()


def test_an_empty_folder_says_what_to_do(app: AppTest) -> None:
    at = app.run()
    assert not at.exception
    assert "There is no run and no model here yet." in words(at)
    assert at.get("file_uploader")


def test_lists_runs_and_models_with_what_is_known(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    save_run(checkpoints / "busy", state="running")
    save_toy(checkpoints / SHIPPED[0], "adjective-swap")
    broken = save_run(checkpoints / "broken")
    (broken / "config.json").write_text("{")
    at = app.run()
    assert not at.exception
    table = at.dataframe[0].value.set_index("name")
    assert table.index[0] == "busy"
    assert table.loc["busy", "state"] == "running (50 %)"
    assert table.loc["mine", "state"] == "finished"
    assert table.loc["mine", "exact match (%)"] == 50.0
    assert table.loc[SHIPPED[0], "state"] == "untrained"
    assert table.loc["broken", "state"] == "cannot be opened"
    assert "BLEU" not in table.columns
    assert "4 runs and models; busy is running." in words(at)
    assert "broken cannot be opened: broken/config.json" in words(at)


def test_shipped_models_cannot_be_changed(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / SHIPPED[0])
    at = app.run()
    assert button(at, "Rename").disabled
    assert button(at, "Delete").disabled
    assert not at.text_area
    assert "It came with Headlight and can be neither renamed nor deleted." in words(at)


def test_active_runs_cannot_be_changed(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "busy", state="running")
    at = app.run()
    assert button(at, "Delete").disabled
    assert "stop it before you rename or delete it" in words(at)


def test_rename(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    save_run(checkpoints / "other")
    at = app.run()
    at.selectbox(key="entry").set_value("mine").run()
    button(at, "Rename").click().run()
    at.text_input(key="runs_new_name").set_value("other")  # in a dialog, the harness runs the whole page at once
    at.button(key="runs_rename_go").click().run()
    assert "There is already a run or model 'other'" in words(at)
    button(at, "Rename").click().run()
    at.text_input(key="runs_new_name").set_value("better")
    at.button(key="runs_rename_go").click().run()
    assert not at.exception
    assert "'mine' is now called 'better'." in words(at)
    assert at.selectbox(key="entry").value == "better"
    assert {path.name for path in checkpoints.iterdir()} == {"better", "other"}


def test_a_note_is_kept_listed_and_exported(app: AppTest, checkpoints: Path, tmp_path: Path) -> None:
    save_run(checkpoints / "mine")
    save_run(checkpoints / "busy", state="running")
    at = app.run()
    at.selectbox(key="entry").set_value("mine").run()
    assert "note" not in at.dataframe[0].value.columns
    at.text_area(key="runs_note_mine").set_value("<b>Twice</b> the *rate*\nno better")
    button(at, "Save the note").click().run()
    assert not at.exception
    assert f"{plain('<b>Twice</b> the *rate*')}  \nno better" in [element.value for element in at.markdown]
    assert at.dataframe[0].value.set_index("name").loc["mine", "note"] == "<b>Twice</b> the *rate*"
    at.selectbox(key="entry").set_value("busy").run()  # one that is being trained can be given a note, too
    at.text_area(key="runs_note_busy").set_value("wait")
    button(at, "Save the note").click().run()
    assert read_note(checkpoints / "busy") == "wait"
    path = export(checkpoints / "mine")
    with path.open("rb") as file:
        import_zip(file, tmp_path / "elsewhere")
    path.unlink()
    assert read_note(tmp_path / "elsewhere" / "mine") == "<b>Twice</b> the *rate*\nno better"
    at.text_area(key="runs_note_busy").set_value(" ")
    button(at, "Save the note").click().run()
    assert not (checkpoints / "busy" / NOTE).exists()


def test_a_damaged_note_concerns_itself_only(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine")
    (folder / NOTE).write_text('{"text": 5}', encoding="utf-8")
    at = app.run()
    assert not at.exception
    assert "mine/note.json" in words(at).replace("\\", "")
    assert at.dataframe[0].value.set_index("name").loc["mine", "state"] == "finished"
    with pytest.raises(CheckpointError, match=r"note\.json"):
        import_zip(io.BytesIO(export(folder).read_bytes()), checkpoints, "copy")
    at.text_area(key="runs_note_mine").set_value("mended")
    button(at, "Save the note").click().run()
    assert read_note(folder) == "mended"
    at.text_area(key="runs_note_mine").set_value("a\u202eb")
    button(at, "Save the note").click().run()
    assert "none of which controls or reorders the text" in words(at)
    assert read_note(folder) == "mended"


def test_delete_asks_first(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    save_run(checkpoints / "other")
    at = app.run()
    at.selectbox(key="entry").set_value("mine").run()
    button(at, "Delete").click().run()
    assert "This cannot be undone." in words(at)
    assert (checkpoints / "mine").is_dir()
    at.button(key="runs_delete_no").click().run()
    assert (checkpoints / "mine").is_dir()
    button(at, "Delete").click().run()
    at.button(key="runs_delete_go").click().run()
    assert not at.exception
    assert "'mine' has been deleted." in words(at)
    assert [path.name for path in checkpoints.iterdir()] == ["other"]
    assert at.selectbox(key="entry").value == "other"


def test_links_lead_to_the_other_pages(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert links == {"Open in Translate": "model=mine", "Watch": "run=mine"}
    assert at.get("download_button")


def test_import(app: AppTest, checkpoints: Path, tmp_path: Path) -> None:
    path = export(save_run(tmp_path / "theirs"))
    content = path.read_bytes()
    path.unlink()
    save_run(checkpoints / "mine")
    at = on_tab(app, "Import")
    at.get("file_uploader")[0].set_value(("theirs.zip", content, "application/zip")).run()
    button(at, "Import").click().run()
    assert not at.exception
    assert "'theirs' has been imported." in words(at)
    assert at.selectbox(key="entry").value == "theirs"
    assert (checkpoints / "theirs" / METRICS).is_file()


def test_a_hostile_zip_file_gets_a_message(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x/../../evil", "x")
    at = on_tab(app, "Import")
    at.get("file_uploader")[0].set_value(("x.zip", made.getvalue(), "application/zip")).run()
    button(at, "Import").click().run()
    assert not at.exception
    assert "leads out of the model's folder" in words(at)
    assert [path.name for path in checkpoints.iterdir()] == ["mine"]


def test_a_translator_is_imported_from_a_folder_on_the_server(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = on_tab(app, "Import")
    at.text_input(key="runs_folder").set_value(str(peer.standard() / "nothing")).run()
    button(at, "Import").click().run()
    assert "There is no translator to import at this path" in words(at)
    at.text_input(key="runs_folder").set_value(str(peer.standard())).run()
    button(at, "Import").click().run()
    assert not at.exception
    assert "'opus-mt-en-de' has been imported." in words(at)
    assert at.selectbox(key="entry").value == "opus-mt-en-de"
    at.switch_page("pages/translate.py").run()
    at.selectbox(key="model").set_value("opus-mt-en-de").run()
    assert not at.exception
    assert "Imported from opus-mt-en-de (MarianMT)." in words(at)
    at.session_state["decode_method"] = "beam"
    at.run()
    button(at, "As its authors: 6 hypotheses").click().run()
    assert not at.exception
    assert at.session_state["decode_beam_size"] == 6
    assert at.session_state["decode_alpha"] == 0.8


def test_a_model_of_several_languages_offers_them(app: AppTest, checkpoints: Path) -> None:
    import_folder(peer.multilingual(), checkpoints / "many")
    runtime.models_changed()
    at = app.run()
    at.switch_page("pages/translate.py").run()
    at.text_input(key="text").set_value("two dogs run").run()
    assert "This model translates into 2 languages" in words(at)
    at.selectbox(key="target_label").set_value(">>fra<<").run()
    assert at.text_input(key="text").value == ">>fra<< two dogs run"
    assert "translates into 2 languages" not in words(at)
    at.selectbox(key="target_label").set_value(">>deu<<").run()
    assert not at.exception
    assert at.text_input(key="text").value == ">>deu<< two dogs run"


def test_curves_side_by_side(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    other = save_run(checkpoints / "other")
    write_metrics(other, (eval_line(10, 0.5, 0.9),))
    at = on_tab(app, "Compare curves")
    assert not at.exception
    (chooser,) = at.multiselect
    chooser.set_value(["mine", "other"]).run()
    assert "Validation loss at the end, best first: other 0.50 (step 10), mine 1.20 (step 30)." in words(at)
    at.segmented_control(key="compare_measure").set_value("exact_match").run()
    assert "best first: other 90.0 % (step 10), mine 50.0 % (step 30)." in words(at)
    assert "They do not: settings, data and start are the same." in words(at)
    charts = len(at.get("vega_lite_chart"))
    at.segmented_control(key="compare_measure").set_value("bleu").run()
    assert "None of these runs has measured validation BLEU." in words(at)
    assert len(at.get("vega_lite_chart")) == charts - 1, "an empty chart says nothing"
    config = read_config(other)
    write_json(other / CONFIG, config | {"training": config["training"] | {"learning_rate": 0.25}})
    at.segmented_control(key="compare_measure").set_value("training_loss").run()
    at.toggle(key="compare_time").set_value(True)
    at.toggle(key="compare_log").set_value(True).run()
    assert not at.exception
    assert "Training loss at the end, best first: mine 1.00 (3 s). No times were logged by other." in words(at)
    table = next(each.value for each in at.dataframe if "setting" in each.value.columns)
    assert list(table["setting"]) == ["Highest learning rate"]
    assert list(table["other"]) == ["0.25"]
    at.multiselect[0].set_value([]).run()
    assert "Choose one or more runs." in words(at)


def test_there_may_be_nothing_to_compare(app: AppTest, checkpoints: Path) -> None:
    save_toy(checkpoints / "plain", "reverse")
    at = on_tab(app, "Compare curves")
    assert not at.exception
    assert "There is nothing to compare yet" in words(at)


def test_all_wrong_validation_answers(app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_answers, "MAX_SENTENCES", 6)
    save_toy(checkpoints / "toy", "reverse")
    at = on_tab(app, "Wrong answers")
    button(at, "Find all wrong validation answers").click().run()
    assert not at.exception
    assert "6 of 6 validation answers of 315, evenly chosen, are not exactly right (100.0 %)" in words(at)
    table = at.dataframe[-1].value
    assert list(table.columns) == ["source", "right answer", "model's answer"]
    assert (table["source"].str[::-1] == table["right answer"]).all()
    write_status(checkpoints / "toy", "running")
    assert "its wrong answers can be listed afterwards" in words(at.run())


def test_heads_form_over_the_snapshots(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    assert not at.exception
    shown = film(at)
    assert [frame["step"] for frame in shown["frames"]] == [0, 10, 30]  # type: ignore[attr-defined]
    assert shown["kind"] == "cross"
    assert {tuple(frame["rows"]) for frame in shown["frames"]}.__len__() == 1  # type: ignore[attr-defined]
    assert "The model's own answer at this step:" in words(at)
    assert "as a mean over 32 validation sentences with known alignment" in words(at)
    assert "need not matter for the answer" in words(at)
    assert len(at.get("vega_lite_chart")) == 2


def test_another_moment_and_head_change_words_and_not_the_film(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    shown = film(at)
    at.session_state["film_mine"] = {"at": {"seq": shown["seq"], "frame": 1, "layer": 1, "head": 3}}
    at.run()
    assert not at.exception
    assert "Step 10, layer 1, head 3." in words(at)
    assert "L1 H3:" in words(at)
    assert film(at) == shown


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_self_attention_forms_too(app: AppTest, checkpoints: Path, kind: str) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    at.segmented_control(key="film_kind").set_value(kind).run()
    assert not at.exception
    assert film(at)["kind"] == kind
    assert "entropy over its highest value" in words(at)


@pytest.mark.parametrize("text", ["", "   "])
def test_no_sentence_is_no_error(app: AppTest, checkpoints: Path, text: str) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    at.text_input(key="film_text_mine").set_value(text).run()
    assert not at.exception
    assert "There is nothing to translate yet" in words(at)


@pytest.mark.parametrize("text", ["x", "aaaaaaaa", "日本語 </script> 👩‍👩‍👧", "z" * 200])
def test_any_sentence_can_be_watched(app: AppTest, checkpoints: Path, text: str) -> None:
    save_run(checkpoints / "mine")
    at = app.run()
    at.text_input(key="film_text_mine").set_value(text).run()
    assert not at.exception
    assert film(at)["frames"]


def test_a_model_without_snapshots_says_so(app: AppTest, checkpoints: Path) -> None:
    save_toy(checkpoints / "plain", "reverse")
    at = app.run()
    assert not at.exception
    assert "This model has no snapshots" in words(at)


def test_a_damaged_snapshot_gets_a_message(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine")
    (folder / SNAPSHOTS / "step-00000010.safetensors").write_bytes(b"torn")
    at = app.run()
    assert not at.exception
    assert "is damaged or cut off" in words(at)


def test_a_run_that_never_began_is_listed_with_its_reason(app: AppTest, checkpoints: Path) -> None:
    write_status(checkpoints / "mine", "failed", error="there is no task 'x'.")
    (checkpoints / ".launches").mkdir()
    (checkpoints / ".launches" / "ghost.json").write_text('{"pid": 1, "started": 1.0, "arguments": ["python"]}')
    at = app.run()
    assert not at.exception
    assert "ghost" in at.dataframe[0].value["name"].tolist()
    at.selectbox(key="entry").set_value("ghost").run()
    assert not at.exception
    assert "The command ended before it could create the run's folder." in words(at)
