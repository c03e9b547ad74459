"""The Attention page in Streamlit's test harness: the views' place, the address, and the panels with their numbers."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation, Translator
from explorer.decoding.view_options import ViewOptions, format_view, parse_view
from explorer.files.manifest import manifest_text
from explorer.screens.attention import panels
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.explorer import sent
from tests.explorer.sent import mount, one_cell
from tests.pages.page import address, choose, click, maps, run, table_with, visit, words
from tests.some import some

TEXT = "I read red books"
PLACE = {"model": "adjective-swap", "text": TEXT, "kind": "cross", "layer": "1", "head": "2"}
pytestmark = pytest.mark.usefixtures("toys")  # these tests are about numbers, not about what a model has learned


def attention(**query: str) -> AppTest:
    return visit("attention", **({"model": "adjective-swap", "text": TEXT} | query))


def panel(name: str, **query: str) -> AppTest:
    """The page with a panel open beside a head, as opened by a link."""
    return visit("attention", **(PLACE | {"view": "head", "panel": name, "cell": "2-3"} | query))


def start(at: AppTest) -> dict[str, Any]:
    """Where the views start; `view` stands for their options, as in the address."""
    place: dict[str, Any] = dict(mount(at, "heads")["start"])
    options = msgspec.convert(place.pop("options"), ViewOptions)
    return place | {"view": format_view(options)}


def report(at: AppTest, **changes: Any) -> AppTest:
    """Simulate a move of the user; `view` stands for the options, as in the address."""
    if "view" in changes:
        changes["options"] = dataclasses.asdict(parse_view(changes.pop("view")))
    at.session_state["heads"] = sent.report(mount(at, "heads"), **changes)
    return run(at)


def ask(at: AppTest, name: str) -> AppTest:
    """Press Export or Embed, beside Copy link in the sidebar."""
    at.session_state["copy_link"] = {"asked": name}
    at.run()
    del at.session_state["copy_link"]  # a trigger lasts one run; the harness does not take it back
    assert not at.exception
    return at


def translator(toys: Path, model: str = "adjective-swap") -> Translator:
    return Translator(load_model(toys / model))


def translation(toys: Path, model: str = "adjective-swap") -> Translation:
    return translator(toys, model).translate(TEXT, DecodeConfig())


def test_while_words_are_to_be_guessed_neither_text_nor_panels_tell_them(toys: Path) -> None:
    told = translation(toys).text
    at = attention(view="heads.guess", panel="compare", cell="2-3", path="5")
    assert "Predict it first" in words(at)
    assert told not in words(at)
    assert "by itself" not in words(at)
    assert not maps(at)
    report(at, view="heads")
    assert "Predict it first" not in words(at)
    assert len(maps(at)) == 1
    assert "view" not in address(at)


def test_a_move_is_written_to_the_address_and_kept_on_the_way_to_other_pages_and_sentences() -> None:
    at = attention()
    before = mount(at, "heads")
    report(at, kind="encoder", layer=1, head=2, row=4, column=2, view="head.max")
    assert mount(at, "heads") == before, "the browser is not sent its own report"
    expected = {"kind": "encoder", "layer": "1", "head": "2", "view": "head.max", "cell": "4-2"}
    assert expected.items() <= address(at).items()
    choose(at, text="They buy blue cars")
    begun = start(at)
    assert (begun["layer"], begun["head"], begun["view"], begun["column"]) == (1, 2, "head.max", None)
    assert "cell" not in address(at)
    at.switch_page("pages/translate.py").run()
    assert not at.exception
    assert not {"panel", "cell"} & address(at).keys()
    assert start(at.switch_page("pages/attention.py").run())["view"] == "head.max"


LINKS = [
    ("compare.way-heads.which-norm", "", {"compare_which": "norm"}),
    ("compare.row-4", "", {"compare_way": "step", "compare_row": 4}),
    ("compare.way-text", "They buy <b>blue</b> cars", {"compare_way": "text"}),
    ("compare.way-model", "other", {"compare_way": "model", "compare_model": "other"}),
    (
        "compare.way-edit.kind-encoder.head-2.is-uniform.along-no",
        "",
        {"compare_way": "edit", "compare_kind": "encoder", "compare_head": 2, "compare_operation": "uniform"},
    ),
    ("forcing", "je lis des livres", {"forcing_text": "je lis des livres"}),
]


@pytest.mark.parametrize(("name", "other", "chosen"), LINKS)
def test_a_link_restores_the_choices(name: str, other: str, chosen: dict[str, Any]) -> None:
    at = panel(name, **({"other": other} if other else {}))
    assert {key: at.session_state[key] for key in chosen} == chosen
    said = {"panel": name} | ({"other": other} if other else {})
    assert {key: value for key, value in address(at).items() if key in ("panel", "other")} == said
    assert not at.warning, "no widget is given two values"
    assert address(run(at))["panel"] == name, "a second run says the same"


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("compare.way-heads.which-nonsense", "compare_which", "mean-heads"),
        ("compare.row-999", "compare_row", 3),
        ("compare.way-edit.layer-99.is-magic", "compare_operation", "zero"),
        ("compare.way-model", "compare_model", "alone"),
    ],
)
def test_choices_that_do_not_exist_are_the_defaults(name: str, key: str, value: Any) -> None:
    assert panel(name, step="2", other="<script>alert(1)</script>").session_state[key] == value


def test_choices_are_written_to_the_address() -> None:
    at = panel("compare.way-heads")

    def said() -> tuple[str, str | None]:
        return address(at)["panel"], address(at).get("other")

    choose(at, compare_which="max-all")
    assert said() == ("compare.way-heads.which-max-all", None)
    choose(at, attention_panel="forcing")
    assert said() == ("forcing", None)
    choose(at, attention_panel="compare")
    assert said() == ("compare.way-heads.which-max-all", None)
    choose(at, compare_way="text", compare_text="They buy blue cars")
    assert said() == ("compare.way-text", "They buy blue cars")
    choose(at, compare_way="model")
    assert said() == ("compare.way-model", "alone")
    choose(at, compare_way="text")
    assert at.text_input(key="compare_text").value == "They buy blue cars", "nothing that was typed is lost"


def test_links_to_former_panels_lead_to_what_they_showed() -> None:
    assert set(panels.PANELS) == {"cell", "compare", "forcing", "export"}
    at = panel("aggregates.which-rollout")
    assert (at.session_state["compare_way"], at.session_state["compare_which"]) == ("heads", "mean-heads")
    assert address(at)["panel"] == "compare.way-heads", "rollout is no longer computed"
    assert address(panel("aggregates"))["panel"] == "compare.way-heads"
    at = panel("tree.dropped-no")
    assert mount(at, "stepper")["start"]["head"] == 2
    assert "panel" not in address(at)
    at.switch_page("pages/attention.py").run()
    assert mount(at, "heads"), "the former tree does not call back who goes on to Attention"
    at = panel("own")
    assert at.file_uploader(key="own_file")
    at.switch_page("pages/attention.py").run()
    assert mount(at, "heads")


@pytest.mark.parametrize(
    ("model", "kind", "cell"),
    [("adjective-swap", "cross", "2-3"), ("other", "encoder", "1-5"), ("unscaled", "decoder", "3-2")],
)
def test_the_numbers_of_a_cell_give_the_weight(toys: Path, model: str, kind: str, cell: str) -> None:
    at = panel("cell", model=model, kind=kind, cell=cell)
    row, column = map(int, cell.split("-"))
    header, arrays = one_cell(at)
    assert [header[name] for name in ("kind", "layer", "head", "row", "column")] == [kind, 1, 2, row, column]
    scores = arrays["keys"] @ arrays["query"] / (1.0 if model == "unscaled" else np.sqrt(len(arrays["query"])))
    np.testing.assert_allclose(arrays["scores"], scores, atol=1e-5)
    raised = np.exp(scores - scores.max())
    np.testing.assert_allclose(raised / raised.sum(), arrays["weights"], atol=1e-5)
    weights = translation(toys, model).trace.weights(kind)[0, 1, row - 1]
    np.testing.assert_allclose(arrays["weights"], weights[: len(scores)], atol=1e-6)
    assert header["scaled"] == (model != "unscaled")
    assert "Which parts of the model wrote this score?" in [box.label for box in at.expander]


def test_the_cell_that_is_explained_unasked_is_said_below_the_row_of_the_map() -> None:
    explained, _ = one_cell(panel("cell", kind="cross", head="0", cell=""))
    assert explained["in_view"] == 0
    assert explained["said"].startswith("No cell is chosen")
    assert explained["said"].endswith("the mean of 4 heads.")
    of_head, _ = one_cell(panel("cell", kind="cross", head="1", cell="2-0"))
    assert of_head["said"].startswith("No cell is chosen, so this is the largest weight of head 1 in this row")
    chosen, _ = one_cell(panel("cell", kind="cross", head="1", cell="2-2"))
    assert (chosen["in_view"], chosen["said"]) == (1, "")


@pytest.mark.parametrize("kind", some(["decoder", "encoder", "cross"], 3))
def test_aggregates_are_shown_beside_the_raw_weights(toys: Path, kind: str) -> None:
    at = panel("compare.way-heads", kind=kind, head="1")
    weights, mask = translation(toys).trace.weights(kind), translation(toys).trace.mask(kind)
    raw, mean = maps(at)
    np.testing.assert_array_equal(np.nan_to_num(raw), np.where(mask, 0, weights[0, 0]))
    np.testing.assert_allclose(np.nan_to_num(mean), np.where(mask, 0, weights[0].mean(0)), atol=1e-6)
    for which, sentence in {
        "max-heads": "Rows do not sum to 1",
        "mean-all": "All layers",
        "norm": "Kobayashi et al. 2020",
        "norm-share": "each row divided by its sum",
        "norm-layer": "cancel",
    }.items():
        choose(at, compare_which=which)
        assert sentence in words(at)
        assert (np.isnan(maps(at)[1]) == (mask != 0)).all()


def test_a_forced_target_has_its_probabilities_and_opens(toys: Path) -> None:
    at = panel("forcing", other="je lis des livres rouges")
    forced = translator(toys).force(TEXT, "je lis des livres rouges")
    np.testing.assert_allclose(
        table_with(at, "its probability (%)")["probability (%)"], 100 * forced.trace.probabilities, atol=1e-3
    )
    total = float(np.log(forced.trace.probabilities.astype(float)).sum())
    assert f"Log-probability −{-total:.3f} nats over {len(forced.path)} tokens" in words(at)
    click(at, "forcing_show")
    assert at.button(key="forcing_show").disabled
    assert "a chosen path" in words(at)


def test_a_sentence_of_another_length_is_subtracted_where_it_has_counterparts() -> None:
    at = panel("compare.way-text", kind="encoder")
    proposed = str(at.text_input(key="compare_text").value)
    assert [word for word in proposed.split() if word not in TEXT.split()], "it begins with a word changed"
    assert len(proposed.split()) == len(TEXT.split())
    assert len(maps(at)) == 3
    assert words(at).count(" looks more at ") == 1
    choose(at, compare_text=TEXT)
    assert "Change one word of the sentence" in words(at)
    assert not maps(at)
    choose(at, compare_text="I read")
    assert [each.shape for each in maps(at)] == [(5, 5), (3, 3), (3, 3)]
    assert "neither compared nor in B − A: the rows “red” and “books” of A; the columns" in words(at)
    assert "shows tokens" in words(report(at, view="head.words"))
    choose(at, compare_text="They buy blue cars")
    assert len(maps(at)) == 3
    choose(at, compare_text="I read blue books")
    assert "A: I read **red** books → " in words(at)
    assert "B: I read **blue** books → " in words(at)
    assert address(at)["other"] == "I read blue books"
    assert "≠ marks words that differ or are missing." in words(at)
    files = [each.proto.label for each in at.get("download_button") if "compare_pair" in each.proto.id]
    assert files == ["Both as one picture"]
    choose(at, compare_text="red I read books")
    assert "B: red I read books → " in words(at), "no word of it is another one, wherever it stands"


def test_another_step_another_model_and_an_edited_run_are_compared(toys: Path) -> None:
    weights = translation(toys).trace.cross[0, 1]
    (rows,) = maps(panel("compare.row-4"))
    np.testing.assert_array_equal(rows[:2], weights[[1, 3]].astype(float))
    np.testing.assert_allclose(rows[2], rows[1] - rows[0], atol=1e-7)
    one, other, difference = maps(panel("compare.way-model", other="other", kind="encoder"))
    np.testing.assert_array_equal(other, translation(toys, "other").trace.encoder[0, 1].astype(float))
    np.testing.assert_allclose(difference, other - one, atol=1e-7)
    at = panel("compare.way-edit.kind-encoder.head-2.is-uniform", kind="encoder")
    np.testing.assert_allclose(maps(at)[1], 0.2, atol=1e-6)
    assert "Edited: encoder layer 1 head 2: uniform" in words(at)


@pytest.mark.parametrize("page", ["attention", "translate"])
def test_export_offers_every_format_and_draws_the_steps_on_request(page: str) -> None:
    at = visit(page, **PLACE)
    assert not at.get("download_button"), "the page ends where its content ends"
    ask(at, "export")

    def offered() -> set[str]:
        return {element.proto.label.split(",")[0] for element in at.get("download_button")}

    files = {"PNG", "SVG", "PDF", "CSV", "NPZ", "Page that steps (HTML)"}
    assert offered() == (files | {"Manifest"} if page == "attention" else files)
    assert "On screen: Cross-attention" in words(at)
    assert ("panel" in address(at)) == (page == "attention")
    if page == "attention":
        click(at, "export_moving")
        assert "GIF" in offered()


def upload(at: AppTest, content: bytes) -> AppTest:
    at.file_uploader(key="export_manifest").upload("view.json", content).run()
    assert not at.exception
    return at


def test_a_manifest_of_other_weights_or_an_invalid_one_gets_a_message() -> None:
    at = panel("export")
    for content in (b"", b"{}", b"[1]", b"\xff", b'{"manifest_version": 9}', b'{"manifest_version": 1, "model": 3}'):
        upload(at, content)
        assert "manifest" in at.error[-1].value
        assert at.session_state["_session_selection"].panel == "export", "nothing is lost"
    selection = Selection(model="other", text=TEXT, panel="export")
    text = manifest_text(selection, path=(), translation="", edits=(), model_hash="0" * 64)
    upload(at, text.encode())
    assert at.selectbox(key="model").value == "other"
    assert "have changed since this manifest was written" in words(at)
    gone = upload(panel("export"), text.replace('"other"', '"gone"').encode())
    assert "There is no model “gone” here" in words(gone)
