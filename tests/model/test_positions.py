import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.fast.training import training_twin
from model.positions import PositionalEncoding, sinusoidal_table
from model.recording import PointRecorder
from model.relative_positions import distance_buckets
from tests.model.importing.peer import require
from tests.tiny import T5, sources, targets, tiny_config, tiny_model


@given(
    position=st.integers(0, 200),
    d_model=st.integers(1, 32).map(lambda half: 2 * half),
    base=st.sampled_from([10_000.0, 100.0]),
    data=st.data(),
)
def test_table_follows_the_papers_formula(position: int, d_model: int, base: float, data: st.DataObject) -> None:
    """What follows from it, such as one rotation for each distance: analysis/test_position_scores.py."""
    pair = data.draw(st.integers(0, d_model // 2 - 1))
    table = sinusoidal_table(position + 1, d_model, base)
    angle = position / base ** (2 * pair / d_model)
    assert (table.shape, table.dtype) == ((position + 1, d_model), torch.float64)
    assert table[position, 2 * pair : 2 * pair + 2].tolist() == pytest.approx(
        [math.sin(angle), math.cos(angle)], abs=1e-12
    )
    assert base != 10_000.0 or torch.equal(table, sinusoidal_table(position + 1, d_model))


def test_positions_beyond_the_learned_ones_raise_a_clear_error_and_sinusoidal_ones_go_on() -> None:
    encoding = PositionalEncoding(tiny_config(positions="learned", max_positions=8))
    assert torch.equal(encoding.table(8), encoding.embedding.weight)
    for length, offset in ((9, 0), (1, 8)):
        with pytest.raises(ValueError, match="8 positions"):
            encoding(torch.zeros(1, length, 16), offset=offset)
    sinusoidal = PositionalEncoding(tiny_config(max_positions=8))
    assert torch.equal(sinusoidal.table(20), sinusoidal_table(20, 16).float())
    with pytest.raises(ValueError, match="odd"):
        sinusoidal_table(4, 7)


@pytest.mark.parametrize("both_directions", [False, True])
@pytest.mark.parametrize(("n_buckets", "farthest"), [(32, 128), (8, 20), (4, 3), (64, 1000)])
def test_the_buckets_are_those_of_t5(n_buckets: int, farthest: int, both_directions: bool) -> None:
    theirs = require("transformers").models.t5.modeling_t5.T5Attention._relative_position_bucket
    distances = torch.arange(-3000, 3001)
    expected = theirs(distances, bidirectional=both_directions, num_buckets=n_buckets, max_distance=farthest)
    found = distance_buckets(distances, n_buckets=n_buckets, farthest=farthest, both_directions=both_directions)
    assert torch.equal(found, expected)
    assert len(found.unique()) == n_buckets - both_directions, "no key after the query has distance 0"


def test_all_layers_of_a_stack_add_the_same_bias_and_cross_attention_none() -> None:
    recorder, model = PointRecorder(), tiny_model(**T5)
    model(sources(7, 5), targets(6, 4), tap=recorder)
    kept = recorder.tensors
    assert [name for name in model.state_dict() if "relative" in name] == [
        "positions_src.relative.embedding.weight",
        "positions_tgt.relative.embedding.weight",
    ]
    for stack, n_layers in (("encoder", 2), ("decoder", 3)):
        first = kept[f"{stack}.0.self_attn.bias"]
        for layer in range(n_layers):
            block = f"{stack}.{layer}.self_attn"
            assert torch.equal(kept[f"{block}.bias"], first)
            scores = kept[f"{block}.query"] @ kept[f"{block}.key"].mT + first
            torch.testing.assert_close(kept[f"{block}.scores"], scores)
        assert first.std() > 0.1
    assert "decoder.0.cross_attn.bias" not in kept


def test_the_bias_is_trained_with_and_without_the_fused_kernel() -> None:
    gradients = []
    for fused in (False, True):
        twin = training_twin(tiny_model(**T5).requires_grad_(True), fused=fused)
        twin(sources(7, 5), targets(6, 4)).square().mean().backward()
        gradients.append([twin.positions_src.relative.embedding.weight.grad, twin.encoder.layers[0].norm1.weight.grad])
    for plain, fused_one in zip(*gradients, strict=True):
        assert plain.abs().max() > 1e-4
        torch.testing.assert_close(fused_one, plain, rtol=1e-3, atol=1e-6)
