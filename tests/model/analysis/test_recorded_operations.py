"""Operations that a recorder keeps: the model's own tensors, in their order, and no bit changed by asking."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
import torch

from model.recorder import AttentionRecorder
from tests.tiny import sources, targets, tiny_model

SCHEMES = [
    {"norm_first": norm_first, "positions": positions, "residual": residual}
    for norm_first, positions, residual in product((False, True), ("sinusoidal", "learned", "none"), (True, False))
]


def name_of(scheme: dict[str, Any]) -> str:
    return f"{'pre' if scheme['norm_first'] else 'post'}-{scheme['positions']}-{scheme['residual']}"


def operations(recorder: AttentionRecorder) -> dict[str, torch.Tensor]:
    assert recorder.operations is not None
    return recorder.operations


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_asking_changes_no_bit(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    src, tgt = sources(5, 3), targets(4, 4)
    with torch.inference_mode():
        assert torch.equal(model(src, tgt), model(src, tgt, record=AttentionRecorder(operations=True)))
        state, asked = model.start(src), model.start(src, record=AttentionRecorder(operations=True))
        for tokens in tgt.T:
            logits, state = model.step(tokens, state)
            same, asked = model.step(tokens, asked, record=AttentionRecorder(operations=True))
            assert torch.equal(logits, same)


def test_nothing_is_kept_unasked() -> None:
    recorder = AttentionRecorder()
    tiny_model()(sources(4), targets(3), record=recorder)
    assert recorder.operations is None
    assert recorder.noting("x.") is None


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_each_is_what_its_module_gives(scheme: dict[str, Any]) -> None:
    """Every recorded input, sent through the module named, is the recorded output."""
    model, recorder = tiny_model(**scheme), AttentionRecorder(operations=True)
    src, tgt = sources(5), targets(4)
    logits = model(src, tgt, record=recorder)
    kept = operations(recorder)
    assert torch.equal(kept["src_embedding"], model.src_embedding(src))
    assert torch.equal(kept["src_embedding.scaled"], model.src_embedding(src) * math.sqrt(16))
    assert torch.equal(kept["positions_src"], model.positions_src(kept["src_embedding.scaled"]))
    assert torch.equal(kept["output"], logits)
    for i in range(2):
        layer, at = model.encoder.layers[i], f"encoder.layers.{i}."
        hidden = layer.feed_forward.linear2(kept[f"{at}feed_forward.activation"])
        assert torch.equal(kept[f"{at}feed_forward.linear2"], hidden)
        assert torch.equal(kept[f"{at}feed_forward.activation"], kept[f"{at}feed_forward.linear1"].relu())
        assert torch.equal(kept[f"{at}self_attn.out_proj"], layer.self_attn.out_proj(kept[f"{at}self_attn.joined"]))
        assert torch.equal(kept[f"{at}self_attn.query"], layer.self_attn.split_heads(kept[f"{at}self_attn.q_proj"]))
        if not scheme["norm_first"] and scheme["residual"]:
            assert torch.equal(kept[f"{at}norm2"], layer.norm2(kept[f"{at}residual2"]))
    for i in range(3):
        at = f"decoder.layers.{i}.cross_attn."
        assert torch.equal(kept[f"{at}weights"] @ kept[f"{at}value"], kept[f"{at}output"])
        scores = kept[f"{at}query"] @ kept[f"{at}key"].transpose(-2, -1) / math.sqrt(4)
        assert torch.equal(kept[f"{at}scores"], scores)


@pytest.mark.parametrize(
    ("norm_first", "expected"),
    [
        (False, ["self_attn.k_proj", "self_attn.out_proj", "residual1", "norm1", "feed_forward.linear1", "norm2"]),
        (True, ["norm1", "self_attn.k_proj", "self_attn.out_proj", "residual1", "norm2", "feed_forward.linear1"]),
    ],
)
def test_they_stand_in_the_order_of_the_computation(norm_first: bool, expected: list[str]) -> None:
    recorder = AttentionRecorder(operations=True)
    tiny_model(norm_first=norm_first)(sources(5), targets(4), record=recorder)
    names = list(operations(recorder))
    places = [names.index(f"encoder.layers.1.{name}") for name in expected]
    assert places == sorted(places)
    assert names[0] == "src_embedding"
    assert names[-1] == "output"
    assert ("encoder.norm" in names) == ("decoder.norm" in names) == norm_first


def test_what_runs_again_takes_its_earlier_place() -> None:
    model, recorder = tiny_model(), AttentionRecorder(operations=True)
    state = model.start(sources(5), record=recorder)
    for token in (1, 5, 6):
        logits, state = model.step(torch.tensor([token]), state, record=recorder)
    kept = operations(recorder)
    assert torch.equal(kept["output"], logits)
    assert kept["decoder.layers.0.self_attn.q_proj"].shape == (1, 1, 16)
    assert kept["decoder.layers.0.self_attn.key"].shape == (1, 4, 3, 4)
    assert kept["decoder.layers.0.cross_attn.key"].shape == (1, 4, 5, 4)


def test_without_a_residual_connection_there_is_none_to_keep() -> None:
    recorder = AttentionRecorder(operations=True)
    tiny_model(residual=False)(sources(5), targets(4), record=recorder)
    assert not [name for name in operations(recorder) if "residual" in name]
