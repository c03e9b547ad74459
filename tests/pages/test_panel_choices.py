"""The choices in a panel are written to the address and restored from it, on the Attention page run from app.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.selection import MAX_TEXT, Selection, from_query, to_query
from explorer.screens.attention import downloads as attention_export
from tests.explorer.toy_models import save_toy
from tests.pages.panel_page import TEXT, open_panel, started


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, seed in (("adjective-swap", 1), ("another", 3), ("other", 5)):
        save_toy(folder / name, "adjective-swap", seed=seed)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return started(checkpoints, monkeypatch)


def opened(app: AppTest, panel: str, **query: str) -> AppTest:
    """The Attention page as opened by a link."""
    return open_panel(app, **({"view": "head", "panel": panel} | query))


def address(at: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


LINKS = [
    ("aggregates.which-rollout", "", {"aggregates_which": "rollout"}),
    ("tree.beam-no", "", {"tree_beam": False, "tree_pruned": True}),
    ("tree.dropped-no", "", {"tree_beam": True, "tree_pruned": False}),
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


@pytest.mark.parametrize(("panel", "other", "chosen"), LINKS)
def test_a_link_restores_the_choices(app: AppTest, panel: str, other: str, chosen: dict[str, Any]) -> None:
    at = opened(app, panel, **({"other": other} if other else {}))
    for key, value in chosen.items():
        assert at.session_state[key] == value
    assert {name: value for name, value in address(at).items() if name in ("panel", "other")} == (
        {"panel": panel} | ({"other": other} if other else {})
    )
    assert not at.warning, "no widget is given two values"
    at.run()
    assert address(at)["panel"] == panel, "a second run says the same"


def test_choices_are_written_to_the_address(app: AppTest) -> None:
    at = opened(app, "aggregates")
    at.selectbox(key="aggregates_which").set_value("max-all").run()
    assert address(at)["panel"] == "aggregates.which-max-all"
    at.segmented_control(key="attention_panel").set_value("compare").run()
    assert address(at)["panel"] == "compare"
    at.segmented_control(key="compare_way").set_value("text").run()
    at.text_input(key="compare_text").set_value("They buy blue cars").run()
    assert (address(at)["panel"], address(at)["other"]) == ("compare.way-text", "They buy blue cars")
    at.segmented_control(key="compare_way").set_value("model").run()
    assert (address(at)["panel"], address(at)["other"]) == ("compare.way-model", "another")
    at.segmented_control(key="compare_way").set_value("text").run()
    assert at.text_input(key="compare_text").value == "They buy blue cars", "nothing that was typed is lost"
    at.segmented_control(key="attention_panel").set_value("aggregates").run()
    assert not at.exception
    assert at.selectbox(key="aggregates_which").value == "max-all"
    assert address(at)["panel"] == "aggregates.which-max-all"
    assert "other" not in address(at)


@pytest.mark.parametrize(
    ("panel", "key", "value"),
    [
        ("aggregates.which-nonsense", "aggregates_which", "mean-heads"),
        ("compare.row-999", "compare_row", 3),
        ("compare.way-edit.layer-99.is-magic", "compare_operation", "zero"),
        ("compare.way-model", "compare_model", "another"),
        ("tree.beam-perhaps", "tree_beam", True),
    ],
)
def test_choices_that_do_not_exist_are_the_defaults(app: AppTest, panel: str, key: str, value: Any) -> None:
    at = opened(app, panel, step="2", other="<script>alert(1)</script>")
    assert at.session_state[key] == value


def test_a_manifest_restores_the_choices(app: AppTest) -> None:
    wanted = Selection("adjective-swap", TEXT, kind="cross", layer=1, head=2, view="head", panel="compare.way-text")
    wanted = dataclasses.replace(wanted, other="They buy blue cars")
    text = attention_export.manifest_text(wanted, path=(), translation="", edits=(), model_hash="")
    at = opened(app, "export", text="We eat green apples")
    at.file_uploader(key="export_manifest").upload("view.json", text.encode()).run()
    assert not at.exception
    assert at.segmented_control(key="attention_panel").value == "compare"
    assert at.text_input(key="compare_text").value == "They buy blue cars"
    assert (address(at)["panel"], address(at)["other"]) == ("compare.way-text", "They buy blue cars")


def test_the_tree_on_translate_keeps_its_switches_out_of_the_address(app: AppTest) -> None:
    at = app.run()
    at.toggle(key="translate_tree").set_value(True).run()
    at.toggle(key="tree_beam").set_value(False).run()
    assert not at.exception
    assert not at.toggle(key="tree_beam").value
    assert "panel" not in address(at)


def test_panels_by_token_say_so_where_whole_words_are_shown(app: AppTest) -> None:
    said = [element.value for element in opened(app, "aggregates", view="head.words").caption]
    assert any("shows tokens" in each for each in said)


def test_the_other_text_is_left_out_of_a_link_if_it_is_too_long_or_unused() -> None:
    kept = Selection("m", "a b", panel="forcing", other="c d")
    assert from_query(to_query(kept)) == (kept, [])
    assert "other" not in to_query(dataclasses.replace(kept, other="x" * MAX_TEXT))
    assert "other" not in to_query(dataclasses.replace(kept, panel=""))
