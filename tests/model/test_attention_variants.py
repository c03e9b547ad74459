"""Positions as rotation or as distance, and the gate, recomputed from what passes the tap."""

import math
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.positions import rotary
from model.recording import PointRecorder
from tests.tiny import random_ids, sources, targets, tiny_model

SELF = ("encoder.0.self_attn", "encoder.1.self_attn", "decoder.0.self_attn", "decoder.2.self_attn")


def points_of(**changes: Any) -> dict[str, torch.Tensor]:
    recorder = PointRecorder()
    tiny_model(**changes)(sources(7, 5), targets(6, 4), tap=recorder)
    return recorder.tensors


@given(first=st.integers(0, 50), pairs=st.integers(1, 6))
def test_a_rotation_is_a_product_of_complex_numbers(first: int, pairs: int) -> None:
    x = torch.randn(2, 5, 2 * pairs, dtype=torch.float64)
    numbers = torch.view_as_complex(x.unflatten(-1, (pairs, 2)).contiguous())
    for row, position in enumerate(range(first, first + 5)):
        turn = torch.tensor(
            [complex(math.cos(a), math.sin(a)) for i in range(pairs) for a in [position / 10000 ** (i / pairs)]],
            dtype=torch.complex128,
        )
        expected = torch.view_as_real(numbers[:, row] * turn).flatten(-2)
        torch.testing.assert_close(rotary(x, first)[:, row], expected)


@pytest.mark.parametrize("block", SELF)
def test_the_bias_lowers_the_score_with_the_distance(block: str) -> None:
    kept = points_of(positions="alibi")
    query, key, scores = (kept[f"{block}.{name}"] for name in ("query", "key", "scores"))
    n_heads = query.size(1)
    for head, i, j in product(range(n_heads), range(query.size(2)), range(key.size(2))):
        product_of_both = (query[0, head, i] * key[0, head, j]).sum() / math.sqrt(query.size(-1))
        expected = product_of_both - abs(i - j) * 2 ** (-8 * (head + 1) / n_heads)
        torch.testing.assert_close(scores[0, head, i, j], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("positions", ["rope", "alibi"])
def test_nothing_is_added_to_embeddings_or_known_to_cross_attention(positions: str) -> None:
    kept = points_of(positions=positions)
    assert torch.equal(kept["src.positions"], kept["src.scaled"])
    block = "decoder.1.cross_attn"
    assert f"{block}.bias" not in kept
    for name, projected in (("query", "q_proj"), ("key", "k_proj")):
        assert torch.equal(kept[f"{block}.{name}"].transpose(1, 2).flatten(2), kept[f"{block}.{projected}"])


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rope", "alibi", "none"])
def test_without_positions_a_sentence_is_a_bag_of_words(positions: str) -> None:
    """Distances are the same in the mirrored sentence: only rotations and tables tell which way it runs."""
    model, src = tiny_model(positions=positions), random_ids(1, 8)
    for order in ([7, 6, 5, 4, 3, 2, 1, 0], [1, 0, 2, 3, 4, 5, 6, 7]):
        same = torch.allclose(model.encode(src[:, order]), model.encode(src)[:, order], atol=1e-5)
        assert same == (positions == "none" or (positions == "alibi" and order[0] == 7))


def test_the_gate_multiplies_what_the_heads_put_together() -> None:
    model, recorder = tiny_model(attention_gate=True, norm_first=True), PointRecorder()
    model(sources(5), targets(4), tap=recorder)
    kept, layer = recorder.tensors, model.decoder.layers[1]
    at, block = "decoder.1.cross_attn", layer.cross_attn
    gate = 1 / (1 + torch.exp(-block.gate_proj(kept["decoder.1.norm2"])))
    torch.testing.assert_close(kept[f"{at}.gate"], gate)
    torch.testing.assert_close(kept[f"{at}.out_proj"], block.out_proj(gate * kept[f"{at}.joined"]))
    assert 0 < kept[f"{at}.gate"].min() < kept[f"{at}.gate"].max() < 1


@pytest.mark.parametrize("positions", ["rope", "alibi"])
@torch.inference_mode()
def test_no_length_is_too_long(positions: str) -> None:
    model = tiny_model(positions=positions, max_positions=8)
    assert model(sources(20), targets(15)).isfinite().all()
