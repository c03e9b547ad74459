"""The machine on Inside, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.sent import messages, mount
from tests.explorer.toy_models import save_toy
from tests.paths import ROOT

TEXT = "I read red books"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "post", "adjective-swap", n_encoder_layers=2, norm_first=False)
    save_toy(folder / "unplaced", "adjective-swap", positions="none", causal=False, residual=False, norm_first=True)
    save_toy(folder / "lstm", "adjective-swap", architecture="lstm", n_encoder_heads=1, n_decoder_heads=1)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["model"], at.query_params["text"] = "post", TEXT
    return at.switch_page("pages/inside.py").run()


def headers(at: AppTest) -> dict[str, Any]:
    """The headers of the blocks that the machine was sent, by their names."""
    assert not at.exception
    return {header.get("part", "decoding"): header for header, _ in messages(at)}


def address(at: AppTest) -> dict[str, str]:
    """The address as text; the harness returns some parameters as lists."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


def reports(page: AppTest, **state: Any) -> AppTest:
    """Run the page after the browser has reported something about the decoding on screen."""
    mounted = mount(page, "machine")
    place = {**mounted["start"], "block": "", "head": 0, "part": "", **state.get("at", {})}
    said = {"at": {"seq": mounted["seq"], "turn": mounted["turn"], "place": place}}
    if "go" in state:
        said["go"] = {"seq": mounted["seq"], **state["go"]}
    page.session_state["machine"] = said
    return page.run()


def test_the_machine_is_the_first_tab_and_starts_where_the_session_is(app: AppTest) -> None:
    header = headers(app)["machine"]
    decoding = headers(app)["decoding"]
    assert decoding["seq"] == header["seq"]
    assert decoding["decoding"]["source"]["tokens"][-1] == "<eos>"
    assert mount(app, "machine")["start"]["step"] == app.session_state["_session_selection"].step
    assert {block["name"] for block in header["blocks"]} == header["facts"].keys()
    assert "details" not in headers(app)


def test_what_is_opened_is_sent_and_stands_in_the_address(app: AppTest) -> None:
    at = reports(app, at={"block": "decoder.1.cross_attn", "head": 3, "part": "scores", "step": 2})
    details, arrays = next(message for message in messages(at) if message[0].get("part") == "details")
    assert (details["opened"]["block"], details["opened"]["head"]) == ("decoder.1.cross_attn", 3)
    assert {"heads", "scores", "masked", "weights", "query", "W.q_proj"} <= arrays.keys()
    assert details["code"]["places"]["scores"]["marked"]
    assert address(at)["block"] == "decoder.1.cross_attn.h3.scores"
    assert address(at)["step"] == "2"
    again = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in address(at).items():
        again.query_params[name] = value
    start = mount(again.switch_page("pages/inside.py").run(), "machine")["start"]
    assert start == {"block": "decoder.1.cross_attn", "head": 3, "part": "scores", "step": 2}
    closed = reports(at, at={"block": "", "step": 2})
    assert "details" not in headers(closed)
    assert "block" not in closed.query_params


@pytest.mark.parametrize(
    "asked", ["decoder.9.cross_attn", "decoder.0.cross_attn.h77", "<b>", "decoder.0.cross_attn.h1.<i>", "a" * 3000, "."]
)
def test_an_address_that_names_no_block_opens_none(app: AppTest, asked: str) -> None:
    app.query_params["block"] = asked
    at = app.run()
    assert mount(at, "machine")["start"]["block"] in ("", "decoder.0.cross_attn")


@pytest.mark.parametrize("model", ["unplaced", "lstm"])
def test_other_models_draw_themselves(app: AppTest, model: str) -> None:
    at = app.selectbox(key="model").set_value(model).run()
    kinds = [block["kind"] for block in headers(at)["machine"]["blocks"]]
    assert "positions" not in kinds
    assert ("lstm" in kinds) == (model == "lstm")
    assert "add" not in kinds
    at = reports(at, at={"block": "decoder.0.cross_attn", "head": 1, "step": 2})
    assert headers(at)["details"]["step"] == (2 if model == "unplaced" else 0), "its rows change at each step"


@pytest.mark.parametrize(
    ("place", "page", "query"),
    [
        ("attention", "Attention", {"kind": "cross", "layer": "2", "head": "3", "view": "head"}),
        ("cell", "Attention", {"panel": "cell", "cell": "2-4", "layer": "2", "head": "3"}),
        ("masks", "Masks", {"masks_tab": "While decoding"}),
        ("translate", "Translate", {"step": "2"}),
    ],
)
def test_links_lead_to_the_place_that_is_open(app: AppTest, place: str, page: str, query: dict[str, str]) -> None:
    where = {"block": "decoder.1.cross_attn", "head": 3, "part": "scores", "step": 2}
    at = reports(app, at=where, go={"place": place, **where, "row": 2, "column": 4})
    assert not at.exception
    found = address(at)
    for name, value in query.items():
        assert found.get(name, value if (name, value) == ("kind", "cross") else None) == value, (page, found)


def test_messages_are_not_trusted(app: AppTest) -> None:
    state = {"block": {"x": 1}, "head": "2", "part": 7, "step": [1]}
    at = reports(app, at=state, go={"place": "../train", **state})
    assert not at.exception
    assert mount(at, "machine")["start"]["block"] == ""
    assert json.dumps(headers(at)["machine"])
