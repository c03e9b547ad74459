"""The Runs page in Streamlit's test harness: the list, what can be done to an entry, its curves and its heads."""

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

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
from tests.pages.page import address, assert_says, button, choose, click, press, run, tables, visit, words
from tests.paths import ROOT


def film(at: AppTest) -> dict[str, Any]:
    ((header, _),) = messages(at)
    return header


def test_lists_runs_and_models_with_what_is_known(checkpoints: Path) -> None:
    at = visit("runs")
    assert "There is no run and no model here yet." in words(at)
    assert at.get("file_uploader")
    save_run(checkpoints / "mine")
    save_run(checkpoints / "busy", state="running")
    save_toy(checkpoints / SHIPPED[0], "adjective-swap")
    (save_run(checkpoints / "broken") / "config.json").write_text("{")
    shutil.copy(ROOT / "tests" / "data" / "runs" / "diverges.jsonl", checkpoints / "mine" / METRICS)
    (checkpoints / ".launches").mkdir()
    for name, log in {"ghost": "", "gone": "gone finished: exact match 1.0000, on the split 'test'."}.items():
        launch = {"pid": 1, "started": 1.0, "arguments": ["python"]}
        write_json(checkpoints / ".launches" / f"{name}.json", launch)
        (checkpoints / ".launches" / f"{name}.log").write_text(log)
    runtime.models_changed()
    at = visit("runs", entry="ghost")
    assert "The command ended before it could create the run's folder." in words(at)
    table = tables(at)[0].set_index("name")
    assert table.index[0] == "busy"
    verdicts = {"busy": "running (50 %)", "mine": "diverged", SHIPPED[0]: "untrained", "broken": "cannot be opened"}
    assert dict(table["verdict"]) == verdicts | {"ghost": "failed"}
    assert table.loc["mine", "scored on"] == "8 test"
    assert "right, 95 %" not in table.columns, "it stands beside its number"
    assert [box.label for box in at.sidebar.selectbox] == ["Language"], "neither model nor sentence matter here"
    assert not at.sidebar.text_input
    assert_says(at, "broken cannot be opened: broken/config.json")


@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        (SHIPPED[0], "finished", "It came with Headlight and can be neither renamed nor deleted."),
        ("busy", "running", "stop it before you rename or delete it"),
    ],
)
def test_shipped_models_and_active_runs_cannot_be_changed(checkpoints: Path, name: str, state: str, why: str) -> None:
    save_run(checkpoints / name, state=state)
    at = visit("runs", entry=name)
    assert button(at, "Rename").disabled
    assert button(at, "Delete").disabled
    assert why in words(at)
    assert bool(at.text_area) == (name == "busy"), "one that is being trained can be given a note"


@pytest.fixture
def two(checkpoints: Path) -> AppTest:
    """The page with the first of two finished runs open; without snapshots, of which it would draw a film."""
    save_run(checkpoints / "mine", steps=())
    save_run(checkpoints / "other", steps=())
    return visit("runs", entry="mine")


def test_an_entry_is_linked_exported_and_renamed(two: AppTest, checkpoints: Path) -> None:
    at = two
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link") if link.proto.query_string}
    assert links == {"Open in Translate": "model=mine", "Watch": "run=mine"}
    assert at.get("download_button")
    renamed = {"other": "There is already a run or model “other”", "better": "“mine” is now called “better”."}
    for name, sentence in renamed.items():
        press(at, "Rename")
        at.text_input(key="runs_new_name").set_value(name)  # in a dialog, the harness runs the whole page at once
        assert sentence in words(click(at, "runs_rename_go"))
    assert at.pills(key="entry").value == ["better"]
    assert {path.name for path in checkpoints.iterdir()} == {"better", "other"}


def test_delete_asks_first(two: AppTest, checkpoints: Path) -> None:
    at = press(two, "Delete")
    assert "This cannot be undone." in words(at)
    assert "pasted or uploaded" not in words(at), "its data are Headlight's"
    click(at, "runs_delete_no")
    assert (checkpoints / "mine").is_dir()
    press(at, "Delete")
    assert "“mine” has been deleted." in words(click(at, "runs_delete_go"))
    assert [path.name for path in checkpoints.iterdir()] == ["other"]
    assert at.pills(key="entry").value == marked(at) == ["other"], "the newest of those left is open"
    assert "The ticked run is open below." in words(at)


def test_a_link_marks_several_runs_which_are_compared_or_deleted_at_once(two: AppTest, checkpoints: Path) -> None:
    two.query_params["entry"] = ["other", "gone", "mine"]
    at = run(two)
    assert sorted(marked(at)) == ["mine", "other"]
    assert "There is no “gone” here." in words(at)
    assert "Validation loss at the end:" in words(at)
    assert "The ticked runs are compared below." in words(at)
    assert "is open below" not in words(at)
    assert sorted(at.pills(key="entry").value) == ["mine", "other"]
    assert "2 runs and models" in words(at)
    assert at.toggle(key="runs_several").value
    assert not visit("runs", entry="mine").toggle(key="runs_several").value
    at = press(at, next(each.label for each in at.button if each.key == "runs_delete_several"))
    assert_says(at, "“mine”, a model of", "“other”, a model of", "This cannot be undone.")
    assert "“mine” and “other” have been deleted." in words(click(at, "runs_delete_go"))
    assert list(checkpoints.iterdir()) == []


def marked(at: AppTest) -> list[str]:
    """The names whose rows the table has marked when it is drawn first."""
    (table,) = (each for each in at.dataframe if each.proto.selection_mode)
    return [tables(at)[0]["name"][row] for row in json.loads(table.proto.selection_default)["selection"]["rows"]]


def test_what_is_open_is_what_the_table_marks(two: AppTest, checkpoints: Path) -> None:
    at = two
    assert marked(at) == ["mine"]
    assert "Open in Translate" in [link.proto.label for link in at.get("page_link")]
    choose(at, entry=["mine", "other"])
    assert (marked(at), address(at)) == (["other"], {"entry": "other"}), "one card opens instead of another"
    choose(at, runs_several=True)
    choose(at, entry=["mine", "other"])
    assert sorted(marked(at)) == ["mine", "other"]
    choose(at, runs_several=False)
    choose(at, entry=["mine"])
    assert marked(at) == ["other"], "the card that was tapped is open"
    choose(at, entry=[])
    assert marked(at) == []
    choose(at, entry=["other"])
    at.session_state["_runs_chosen"] = []  # as if the mark had been taken away: the harness cannot click on a row
    run(at)
    assert at.pills(key="entry").value == []
    assert "Open in Translate" not in [link.proto.label for link in at.get("page_link")]


def test_at_first_the_newest_is_open_and_a_link_to_what_is_missing_opens_nothing(two: AppTest) -> None:
    at = visit("runs")
    (first,) = marked(at)
    assert at.pills(key="entry").value == [first] == [tables(at)[0]["name"][0]]
    at.session_state["_runs_chosen"] = []
    assert at.pills(key="entry").value
    assert not run(at).pills(key="entry").value, "it can be closed"
    at = visit("runs", entry="gone")
    assert "There is no “gone” here." in words(at)
    assert marked(at) == []
    assert "Tick a run to open it" in words(at)
    assert "open below" not in words(at)


def test_losses_of_runs_with_other_tokens_are_drawn_apart(two: AppTest, checkpoints: Path) -> None:
    apart = "so runs that differ in these have charts of their own."
    two.query_params["entry"] = ["mine", "other"]
    at = run(two)
    assert apart not in words(at)
    assert len(at.get("vega_lite_chart")) == 1
    save_toy(checkpoints / "swap", "adjective-swap")
    write_metrics(checkpoints / "swap", (eval_line(10, 0.5, 0.9),))
    at.query_params["entry"] = ["mine", "other", "swap"]
    run(at)
    assert_says(at, apart, "Validation loss at the end: swap 0.50 (step 10).")
    assert len(at.get("vega_lite_chart")) == 2
    choose(at, compare_measure="exact_match")
    assert_says(at, "Runs with other validation sentences have charts of their own.")
    assert len(at.get("vega_lite_chart")) == 2
    assert "until step" not in words(at), "no two scores of other sentences are compared at one step"
    choose(at, entry=["mine", "other"])
    assert len(at.get("vega_lite_chart")) == 1
    assert "charts of their own" not in words(at)


def test_a_number_that_was_measured_with_the_future_in_view_is_warned_of(two: AppTest, checkpoints: Path) -> None:
    two.query_params["entry"] = ["mine", "other"]
    assert not run(two).warning, "both have their masks"
    config = read_config(checkpoints / "other")
    config["model"]["causal"] = False
    write_json(checkpoints / "other" / CONFIG, config)
    [warning] = run(two).warning
    assert warning.value.startswith(plain("Without a causal mask: “other”. This number was measured while the token"))
    choose(two, compare_measure="exact_match")
    assert not two.warning, "it was measured on what the model wrote by itself"
    assert "Models that came with Headlight" not in words(two), "and these two can be deleted"
    save_toy(checkpoints / SHIPPED[0], "adjective-swap")
    two.query_params["entry"] = ["mine", SHIPPED[0]]
    assert "Models that came with Headlight and runs in training cannot be deleted." in words(run(two))
    press(two, "Delete “mine”")
    assert "“mine” has been deleted." in words(click(two, "runs_delete_go")), "one's own can be deleted all the same"
    assert {path.name for path in checkpoints.iterdir()} == {"other", SHIPPED[0]}


def note(at: AppTest, text: str) -> AppTest:
    at.text_area(key="runs_note_mine").set_value(text)
    return press(at, "Save the note")


def test_a_note_is_kept_listed_and_exported(two: AppTest, checkpoints: Path, tmp_path: Path) -> None:
    assert "note" not in tables(two)[0].columns
    at = note(two, "<b>Twice</b> the *rate*\nno better")
    assert f"{plain('<b>Twice</b> the *rate*')}  \nno better" in [element.value for element in at.markdown]
    assert tables(at)[0].set_index("name").loc["mine", "note"] == "<b>Twice</b> the *rate*"
    path = export(checkpoints / "mine")
    with path.open("rb") as file:
        import_zip(file, tmp_path / "elsewhere")
    path.unlink()
    assert read_note(tmp_path / "elsewhere" / "mine") == "<b>Twice</b> the *rate*\nno better"
    note(at, " ")
    assert not (checkpoints / "mine" / NOTE).exists()


def test_a_damaged_note_concerns_itself_only(two: AppTest, checkpoints: Path) -> None:
    folder = checkpoints / "mine"
    (folder / NOTE).write_text('{"text": 5}', encoding="utf-8")
    at = run(two)
    assert "mine/note.json" in words(at)
    assert tables(at)[0].set_index("name").loc["mine", "verdict"] == "too few pairs"
    with pytest.raises(CheckpointError, match=r"note\.json"):
        import_zip(io.BytesIO(export(folder).read_bytes()), checkpoints, "copy")
    note(at, "mended")
    assert "none of which controls or reorders the text" in words(note(at, "a\u202eb"))
    assert read_note(folder) == "mended"


def import_file(name: str, content: bytes) -> AppTest:
    at = visit("runs")
    at.get("file_uploader")[0].set_value((name, content, "application/zip")).run()
    return press(at, "Import")


def test_a_zip_file_is_imported_and_a_hostile_one_refused(checkpoints: Path, tmp_path: Path) -> None:
    save_run(checkpoints / "mine")
    hostile = io.BytesIO()
    with zipfile.ZipFile(hostile, "w") as archive:
        archive.writestr("x/../../evil", "x")
    assert "leads out of the model's folder" in words(import_file("x.zip", hostile.getvalue()))
    assert [path.name for path in checkpoints.iterdir()] == ["mine"]
    at = import_file("theirs.zip", export(save_run(tmp_path / "theirs")).read_bytes())
    assert "“theirs” has been imported." in words(at)
    assert at.pills(key="entry").value == ["theirs"]
    assert (checkpoints / "theirs" / METRICS).is_file()


def test_a_translator_is_imported_from_a_folder_on_the_server(checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = visit("runs")
    choose(at, runs_folder=str(peer.standard() / "nothing"))
    assert "There is no translator to import at this path" in words(press(at, "Import"))
    choose(at, runs_folder=str(peer.standard()))
    assert "“opus-mt-en-de” has been imported." in words(press(at, "Import"))
    assert at.pills(key="entry").value == ["opus-mt-en-de"]
    at = visit("translate", model="opus-mt-en-de", text="two dogs run")
    said = [each.value for each in at.sidebar.caption]
    assert said.count(plain("Imported from opus-mt-en-de (MarianMT).")) == 2, "below the sentence, and among its sizes"
    at.session_state["decode_method"] = "beam"
    run(at)
    press(at, "As its authors: 6 hypotheses")
    assert (at.session_state["decode_beam_size"], at.session_state["decode_alpha"]) == (6, 0.8)


def test_a_model_of_several_languages_offers_them(checkpoints: Path) -> None:
    import_folder(peer.multilingual(), checkpoints / "many")
    runtime.models_changed()
    at = visit("translate", model="many", text="two dogs run")
    assert "This model translates into 2 languages" in words(at)
    for label in (">>fra<<", ">>deu<<"):
        choose(at, target_label=label)
        assert at.text_input(key="text").value == f"{label} two dogs run"
        assert "translates into 2 languages" not in words(at)


def test_curves_side_by_side(two: AppTest, checkpoints: Path) -> None:
    other = checkpoints / "other"
    write_metrics(other, (eval_line(10, 0.5, 0.9),))
    earlier = visit("runs", entry="mine", runs_tab="Compare curves")  # as links of earlier versions have it
    assert_says(earlier, "Validation loss 1.20 at step 30")
    at = run(two)
    assert [tab.label for tab in at.tabs] == ["Curves", "Wrong answers"], "one run is compared with nothing"
    assert_says(at, "Validation loss 1.20 at step 30")
    assert "How they differ" not in words(at)
    choose(at, runs_several=True)
    choose(at, entry=["mine", "other"])
    drawn = " ".join(str(getattr(element, "value", "")) for element in at.main)
    assert drawn.index("Validation loss at the end") < drawn.index("How they differ"), "curves come before settings"
    assert "Validation loss at the end: other 0.50 (step 10), mine 1.20 (step 30)." in words(at)
    assert "The last until step 10: other 0.50 (step 10), mine " in words(at)
    assert "Settings, data and start are the same." in words(at)
    assert "Each is a single run." in words(at)
    measures = at.segmented_control(key="compare_measure").options
    assert measures == ["loss", "exact match", "token accuracy", "training loss"], "neither has a BLEU"
    config = read_config(other)
    write_json(other / CONFIG, config | {"training": config["training"] | {"learning_rate": 0.25}})
    choose(at, compare_measure="training_loss")
    table = at.table[0].value
    assert list(table["setting"]) == [
        "Parameters",
        "Score",
        "Scored sentences",
        "Minutes of training",
        "Highest learning rate",
    ]
    assert list(table["other"])[1:] == [*map(plain, ("50.0\xa0% (22–78) exactly right", "8 test", "–", "0.25"))]
    assert "They answered different sentences" not in words(at)
    write_json(other / CONFIG, config | {"data": config["data"] | {"task": "dates"}})
    assert_says(run(at), "They answered different sentences, so their scores say nothing of which is better.")


def test_all_wrong_validation_answers(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_answers, "MAX_SENTENCES", 6)
    save_toy(checkpoints / "toy", "reverse")
    at = press(visit("runs", entry="toy", runs_tab="Wrong answers"), "Find all wrong validation answers")
    assert "6 of 6 validation answers of 315, evenly chosen, are not exactly right (100.0 %)" in words(at)
    table = tables(at)[-1]
    assert list(table.columns) == ["source", "right answer", "model's answer"]
    assert (table["source"].str[::-1] == table["right answer"]).all()
    write_status(checkpoints / "toy", "running")
    assert "its wrong answers can be listed afterwards" in words(run(at))
    folder = save_run(checkpoints / "right", steps=())
    config = read_config(folder)
    config["results"]["valid"] = {"exact_match": 1.0}
    write_json(folder / CONFIG, config)
    at = visit("runs", entry="right", runs_tab="Wrong answers")
    assert "No wrong validation answer: at the end of training, all were exactly right." in words(at)
    assert "Find all wrong validation answers" not in [each.label for each in at.button]
    assert "No wrong validation answer" not in words(visit("train", run="right")), "its score says so"


def test_heads_form_over_the_snapshots(checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = visit("runs", entry="mine")
    shown = film(at)
    assert len({tuple(frame["rows"]) for frame in shown["frames"]}) == 1
    assert_says(at, "The model's own answer at this step:")
    assert len(at.get("vega_lite_chart")) == 2
    assert [tab.label for tab in at.tabs] == ["Watch heads form", "Wrong answers"]
    at.session_state["film_mine"] = {"at": {"seq": shown["seq"], "frame": 1, "layer": 1, "head": 3}}
    run(at)
    assert_says(at, "Step 10, layer 1, head 3.")
    assert film(at) == shown, "another moment and head change the words and not the film"
    for kind in ("encoder", "decoder"):
        choose(at, film_kind=kind)
        assert film(at)["kind"] == kind


def test_the_film_opens_at_the_step_whose_weights_were_kept(checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine")
    assert film(visit("runs", entry="mine"))["place"]["frame"] == 2
    config = read_config(folder)
    write_json(folder / CONFIG, config | {"results": config["results"] | {"step": 10}})
    runtime.models_changed()
    at = visit("runs", entry="mine")
    assert film(at)["place"]["frame"] == 1
    assert_says(at, "the rows are the answer of the model that was kept, that of step 10,")


def test_missing_and_damaged_snapshots_get_a_message(checkpoints: Path) -> None:
    save_toy(checkpoints / "plain", "reverse")
    at = visit("runs", entry="plain")
    assert "It has no snapshots, in which its heads could be watched" in words(at)
    assert "Watch heads form" not in [tab.label for tab in at.tabs], "the first tab has something to show"
    (save_run(checkpoints / "mine") / SNAPSHOTS / "step-00000010.safetensors").write_bytes(b"torn")
    at = visit("runs", entry="mine")
    assert "is damaged or cut off" in words(at)
    assert "no snapshots" not in words(at)
