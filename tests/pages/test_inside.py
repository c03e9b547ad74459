"""The Inside page in Streamlit's test harness: the machine, every operation, and the tabs below it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from explorer.decoding.examples import opening_step
from explorer.decoding.translator import Translation
from explorer.locale.text import weight_percent
from explorer.web import runtime
from model.checkpoint import load_model
from model.config import EOS, SOS, DecodeConfig
from model.decoding.search import output_rules, target_log_probs
from tests.explorer.sent import decoding, messages, mount
from tests.pages.page import (
    address,
    assert_says,
    has_key,
    run,
    tables,
    visit,
    widget,
)
from tests.paths import CHECKPOINTS

TEXT = "I read red books"


@pytest.fixture(autouse=True)
def _untrained(toys: Path) -> None:
    """All tests of this file are about shapes and sums, not about what a model has learned."""


def inside(tab: str, **query: str) -> AppTest:
    return visit("inside", **({"model": "post", "text": TEXT, "inside_tab": tab} | query))


def translation(at: AppTest) -> Translation:
    return runtime.translate(at.selectbox(key="model").value, at.text_input(key="text").value, DecodeConfig())


def step_on(at: AppTest) -> Any:
    (slider,) = (box for box in at.select_slider if box.label == "Step")
    return slider


@pytest.mark.parametrize(
    ("asked", "block"),
    [
        ("encoder.0.feed_forward.activation", "encoder.0.feed_forward"),
        ("encoder.layers.0.feed_forward.activation", "encoder.0.feed_forward"),  # a link of long ago
        ("decoder.1.cross_attn.scores", "decoder.1.cross_attn"),
        ("<b>no such operation</b>", ""),
    ],
)
def test_a_link_to_an_operation_opens_its_block_in_the_machine(asked: str, block: str) -> None:
    at = inside("All operations", op=asked)
    assert mount(at, "machine")["start"]["block"] == block
    assert "inside_tab" not in address(at)
    assert "op" not in address(at)


def test_the_lens_ends_with_the_real_prediction_at_the_step_of_all_pages() -> None:
    at = inside("Layer by layer")
    shown, slider = translation(at), step_on(at)
    assert slider.value == opening_step(runtime.models()["post"], shown), "the one worth seeing at first"
    step = 1 if slider.value != 1 else 2
    slider.set_value(step).run()
    assert at.query_params["step"] == str(step)
    assert at.session_state["_session_selection"].step == step
    (table,) = tables(at)
    assert table["read off after"].tolist() == ["embedding", "layer 1", "layer 2"]
    assert table["likeliest"].tolist()[-1] == shown.trace.predicted_tokens[step - 1]
    loaded = load_model(runtime.CHECKPOINTS / "post")
    source, read = torch.tensor([[*shown.source.ids, EOS]]), torch.tensor([[SOS, *shown.path[: step - 1]]])
    logits = loaded.model(source, read)[0, -1]
    probability = 100 * float(logits.softmax(dim=-1)[shown.path[step - 1]])
    assert probability < 100 * float(shown.trace.probabilities[step - 1]), "tokens that are never chosen count here"
    assert table["its probability (%)"].tolist()[-1] == pytest.approx(probability, abs=0.01)


def headers(at: AppTest) -> dict[str, Any]:
    """The headers of the blocks that the machine was sent, by their names."""
    assert not at.exception
    return {header.get("part", "decoding"): header for header, _ in messages(at)}


def reports(page: AppTest, **state: Any) -> AppTest:
    """Run the page after the browser has reported something about the decoding on screen."""
    mounted = mount(page, "machine")
    place = {**mounted["start"], "block": "", "head": 0, "part": "", **state.get("at", {})}
    said: dict[str, Any] = {"at": {"seq": mounted["seq"], "turn": mounted["turn"], "place": place}}
    said |= {name: {"seq": mounted["seq"], **state[name]} for name in state if name != "at"}
    page.session_state["machine"] = said
    return run(page)


def machine(**query: str) -> AppTest:
    return visit("inside", **({"model": "post", "text": TEXT} | query))


@pytest.mark.parametrize("model", ["unplaced", "lstm"])
def test_other_models_draw_themselves(model: str) -> None:
    at = machine(model=model)
    blocks = {block["kind"] for block in headers(at)["machine"]["blocks"]}
    assert not blocks & {"positions", "add"}
    assert ("lstm" in blocks) == (model == "lstm")
    at = reports(at, at={"block": "decoder.0.cross_attn", "head": 1, "step": 2})
    assert headers(at)["details"]["step"] == (2 if model == "unplaced" else 0), "its rows change at each step"


@pytest.mark.parametrize(
    ("place", "query"),
    [
        ("attention", {"layer": "2", "head": "3", "view": "head"}),
        ("cell", {"panel": "cell", "cell": "2-4", "layer": "2", "head": "3"}),
        ("masks", {"text": "I read red books"}),
        ("translate", {"step": "2"}),
    ],
)
def test_links_lead_to_the_place_that_is_open(place: str, query: dict[str, str]) -> None:
    where = {"block": "decoder.1.cross_attn", "head": 3, "part": "scores", "step": 2}
    at = reports(machine(), at=where, go={"place": place, **where, "row": 2, "column": 4})
    assert not at.exception
    assert query.items() <= address(at).items()
    assert address(at).get("kind", "cross") == "cross"


def test_a_dragged_weight_is_what_the_machine_goes_on_with_until_it_is_taken_back() -> None:
    at = machine()
    own = headers(at)["decoding"]["decoding"]
    where = {"block": "decoder.1.cross_attn", "head": 3, "part": "weights", "step": 2}
    row = {"kind": "cross", "layer": 2, "head": 3, "row": 2}
    keys = len(own["source"]["tokens"])
    at = reports(at, at=where, edit={**row, "weights": [1000, *[0] * (keys - 1)]})
    del at.session_state["machine"]
    changed = headers(at)["decoding"]
    assert changed["decoding"]["edits"] == ["cross layer 2 head 3: row row 2"]
    piece = {"name": "decoder.1.cross_attn.weights", "head": 3, "row": 1, "rows": 1, "column": 0, "columns": keys}
    at = reports(at, at=where, numbers={"step": 0, "slices": [piece]})
    (numbers,) = [arrays["0"] for header, arrays in messages(at) if header.get("part") == "numbers"]
    assert numbers.tolist() == [[1.0, *[0.0] * (keys - 1)]]
    assert headers(at)["details"]["seq"] == changed["seq"]
    # And so is a token at another position: beside the weights, until both are taken back.
    at = reports(at, at=where, edit={**row, "kind": "encoder", "row": 3, "weights": [], "to": 1})
    del at.session_state["machine"]
    assert headers(at)["decoding"]["decoding"]["edits"][1:] == ["source token 3 at position 1"]
    at = reports(at, at=where, edit={**row, "weights": []})
    del at.session_state["machine"]
    assert headers(run(at))["decoding"]["decoding"] == own


def test_messages_are_not_trusted() -> None:
    state = {"block": {"x": 1}, "head": "2", "part": 7, "step": [1]}
    piece = {"name": "../x", "head": -1, "row": 0, "rows": 10**12, "column": 0, "columns": 1}
    bad = {"kind": "cross", "layer": 99, "head": -3, "row": 0, "weights": [10**9]}
    at = reports(
        machine(), at=state, go={"place": "../train", **state}, numbers={"step": 99, "slices": [piece]}, edit=bad
    )
    assert "edit" not in address(at)
    assert mount(at, "machine")["start"]["block"] == ""
    assert json.dumps(headers(at)["machine"])


@pytest.mark.usefixtures("shipped")
def test_the_machine_at_an_earlier_step_of_training_shows_the_same_place_with_the_weights_of_then() -> None:
    query = {"model": "reverse", "text": "hello", "step": "2", "block": "decoder.0.cross_attn.h1.weights"}
    at = visit("inside", **query)
    place, now = mount(at, "machine")["start"], decoding(at)
    slider = widget(at, "trained_1500")
    assert slider.options[0] == "0"
    slider.set_value(0).run()
    assert not at.exception
    then = decoding(at)
    assert mount(at, "machine")["start"] == place, "the same place"
    assert then["target"]["tokens"] == now["target"]["tokens"], "the same target"
    assert (now["target"]["by"], then["target"]["by"]) == ("chosen", "next token read"), (
        "those weights did not write it"
    )
    early = load_model(CHECKPOINTS / "reverse", snapshot=0)
    source = torch.tensor([[*early.source.encode("hello").ids, EOS]])
    path = runtime.translate("reverse", "hello", DecodeConfig()).path
    logits = early.model(source, torch.tensor([[SOS, *path[:-1]]]))[0]
    shares = target_log_probs(logits, output_rules(early.model_config)).exp()
    expected = [float(row[token]) for row, token in zip(shares, path, strict=True)]
    assert then["target"]["probabilities"] == pytest.approx(expected, abs=1e-3)
    token, share = now["target"]["predicted"][1], weight_percent(expected[1])
    after = weight_percent(now["target"]["probabilities"][1])
    assert_says(at, f"“{token}”: {share} → {after}")
    assert slider.label == "Steps of training"
    assert not has_key(visit("inside", model="dates"), "trained_1500"), "a model without snapshots has no slider"
    assert not has_key(visit("lessons", lesson="attention", at="1"), "trained_1500")


@pytest.mark.usefixtures("shipped")
def test_a_model_without_earlier_weights_links_those_that_have_some(monkeypatch: pytest.MonkeyPatch) -> None:
    def links(model: str, tab: str = "The machine") -> list[str]:
        named = [link.proto for link in visit("inside", model=model, inside_tab=tab).get("page_link")]
        return [link.label for link in named if f"model={link.label}" in link.query_string]

    assert links("multi30k-en-de") == ["phrases-en-de", "reverse"]
    assert links("multi30k-en-de", "Sizes") == links("phrases-en-de") == []
    models = runtime.models()
    for name in ("dates", "multi30k-en-de"):
        models[name] = models[name] | {"imported": {"from": "elsewhere"}}
    monkeypatch.setattr(runtime, "models", lambda: models)
    assert links("multi30k-en-de") == ["phrases-en-de"], "the same languages"
    assert links("dates") == [], "no other model of its languages has any"
