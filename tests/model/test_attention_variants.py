"""Positions as rotation or as distance, and the gate, recomputed from what passes the tap."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.positions import rotary
from model.recording import PointRecorder
from tests.tiny import random_ids, sources, targets, tiny_model


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
