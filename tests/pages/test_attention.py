"""The Attention page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.view_options import ViewOptions, format_view, parse_view
from explorer.screens.attention import panels as attention_panels
from explorer.web import runtime
from tests.explorer.sent import decoding, decodings, mount
from tests.explorer.sent import report as said
from tests.explorer.toy_models import save_toy
from tests.pages.teaching import as_read
from tests.paths import ROOT


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "adjective-swap", "adjective-swap")
    save_toy(folder / "reverse", "reverse", n_encoder_layers=3)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    return at.switch_page("pages/attention.py")


def start(at: AppTest) -> dict[str, Any]:
    """Where the views start; `view` stands for their options, as in the address."""
    place: dict[str, Any] = dict(mount(at, "heads")["start"])
    options = msgspec.convert(place.pop("options"), ViewOptions)
    return place | {"view": format_view(options)}


def notes(at: AppTest) -> str:
    return as_read(" ".join(element.value for element in [*at.caption, *at.info, *at.warning, *at.error]))


def address(at: AppTest) -> dict[str, str]:
    """The address bar; the harness returns what a page wrote as text, and what a link brought as a list."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


def link(app: AppTest, **query: str) -> AppTest:
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def report(at: AppTest, **changes: Any) -> AppTest:
    """Simulate a move of the user; `view` stands for the options, as in the address."""
    if "view" in changes:
        changes["options"] = asdict(parse_view(changes.pop("view")))
    at.session_state["heads"] = said(mount(at, "heads"), **changes)
    return at.run()


def test_opens_with_all_heads_of_the_example(app: AppTest) -> None:
    at = app.run()
    assert not at.exception
    shown = decoding(at)
    assert shown["source"]["tokens"] == ["i", "read", "red", "books", "<eos>"]
    assert {kind: (shape["layers"], shape["heads"]) for kind, shape in shown["shapes"].items()} == {
        "encoder": (1, 2),
        "decoder": (2, 4),
        "cross": (2, 4),
    }
    assert start(at)["view"] == "heads"
    assert not shown["trained"]


def test_a_link_restores_the_view_and_the_address_says_the_same(app: AppTest) -> None:
    query = {"model": "adjective-swap", "text": "They buy blue cars", "step": "3", "kind": "decoder", "layer": "2"}
    query |= {"head": "4", "view": "lines.next.log.mass-60", "cell": "3-2"}
    at = link(app, **query)
    assert not at.exception
    assert start(at) == {
        "kind": "decoder",
        "layer": 2,
        "head": 4,
        "step": 3,
        "row": 3,
        "column": 2,
        "view": "lines.next.log.mass-60",
    }
    assert address(at) == query


def test_the_position_is_written_to_the_address(app: AppTest) -> None:
    at = app.run()
    before = mount(at, "heads")
    report(at, kind="encoder", layer=1, head=2, row=4, column=2, view="head.max")
    assert not at.exception
    assert mount(at, "heads") == before, "the browser is not sent its own report"
    expected = {"kind": "encoder", "layer": "1", "head": "2", "view": "head.max", "cell": "4-2"}
    assert expected.items() <= address(at).items()


def test_words_are_sent_where_a_word_has_several_tokens(app: AppTest) -> None:
    at = link(app, model="reverse", text="abc", kind="encoder", view="head.words")
    assert not at.exception
    ((header, _),) = decodings(at)
    assert header["decoding"]["subwords"]
    words = header["forms"]["encoder"]["words"]
    assert (words["columns"], words["column_spans"]) == (["abc", "<eos>"], [[0, 3], [3, 4]])


def test_a_new_sentence_keeps_the_head_and_forgets_the_cell(app: AppTest) -> None:
    at = report(app.run(), layer=1, head=3, column=3, view="head")
    assert "cell" in at.query_params
    at.text_input(key="text").set_value("They buy blue cars").run()
    begun = start(at)
    assert (begun["layer"], begun["head"], begun["view"], begun["column"]) == (1, 3, "head", None)
    assert "cell" not in at.query_params


def test_the_view_is_not_part_of_the_address_of_other_pages(app: AppTest) -> None:
    at = report(app.run(), head=3, view="lines")
    at.switch_page("pages/translate.py").run()
    assert not at.exception
    assert not {"view", "panel", "cell"} & set(at.query_params)
    at.switch_page("pages/attention.py").run()
    assert start(at)["view"] == "lines"


@pytest.mark.parametrize("panel", list(attention_panels.PANELS))
def test_panels_open_by_link_on_any_model(app: AppTest, panel: str) -> None:
    for model in ("adjective-swap", "reverse"):
        at = link(app, model=model, kind="cross", layer="2", head="1", view="head", cell="2-1", panel=panel)
        assert not at.exception
        assert address(at)["panel"] == panel
        assert at.segmented_control(key="attention_panel").value == panel


@pytest.mark.parametrize(
    "text", ["a", "a a a a a", "🏳️‍🌈", "مرحبا بالعالم", "你好 世界", "</script>", "x" * 100], ids=lambda text: text[:8]
)
def test_panels_take_any_sentence(app: AppTest, text: str) -> None:
    query = {"model": "reverse", "kind": "encoder", "layer": "2", "head": "1", "view": "head", "cell": "1-1"}
    for panel in ("cell", "aggregates.which-norm", "tree", "compare.way-text", "forcing", "export"):
        at = link(app, **query, text=text, panel=panel, other=text)
        assert not at.exception
        assert address(at)["panel"] == panel
        assert address(at)["text"] == text


def test_the_button_of_a_cell_opens_its_panel(app: AppTest) -> None:
    at = app.run()
    assert mount(at, "heads")["explains"]
    at.session_state["heads"] = {"open": "cell"}
    at.run()
    assert address(at)["panel"] == "cell"


@pytest.mark.parametrize(
    "text",
    [
        "word " * 5000,
        "🏳️‍🌈",
        "مرحبا بالعالم",
        "你好 世界",
        "<img src=x onerror=alert(1)>",
        "</script>",
        "\x00\x1b",
        "a",
        "a a a a a",
    ],
)
def test_odd_input_gives_figures(app: AppTest, text: str) -> None:
    at = app.run()
    at.text_input(key="text").set_value(text).run()
    assert not at.exception
    assert decoding(at)["source"]["tokens"][-1] == "<eos>"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"view": "<b>"}, "view is not one of this app"),
        ({"cell": "third"}, "not a row and a column"),
        ({"panel": "no such"}, "panel is not one of this app"),
        ({"text": "   "}, "type a sentence"),
    ],
)
def test_an_invalid_link_gets_a_message(app: AppTest, query: dict[str, str], said: str) -> None:
    at = link(app, **query)
    assert not at.exception
    assert said in notes(at)


def test_a_link_beyond_the_model_is_moved_into_it(app: AppTest) -> None:
    at = link(app, kind="encoder", layer="99", head="99", step="99", cell="99-99", view="nonsense.words")
    begun = start(at)
    assert [begun[name] for name in ("kind", "layer", "head", "row", "column")] == ["encoder", 1, 2, 5, 5]


def test_without_any_model_there_gets_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    at.switch_page("pages/attention.py").run()
    assert not at.exception
    assert "no model" in notes(at)
