from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.positions import PositionalEncoding, sinusoidal_table
from tests.tiny import tiny_config


@given(
    position=st.integers(0, 200),
    d_model=st.integers(1, 32).map(lambda half: 2 * half),
    base=st.sampled_from([10_000.0, 100.0]),
    data=st.data(),
)
def test_table_follows_the_papers_formula(position: int, d_model: int, base: float, data: st.DataObject) -> None:
    """What follows from it, such as one rotation for each distance: analysis/test_position_schemes.py."""
    pair = data.draw(st.integers(0, d_model // 2 - 1))
    table = sinusoidal_table(position + 1, d_model, base)
    angle = position / base ** (2 * pair / d_model)
    assert (table.shape, table.dtype) == ((position + 1, d_model), torch.float64)
    assert table[position, 2 * pair : 2 * pair + 2].tolist() == pytest.approx(
        [math.sin(angle), math.cos(angle)], abs=1e-12
    )
    assert base != 10_000.0 or torch.equal(table, sinusoidal_table(position + 1, d_model))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_what_is_added_is_the_table_wherever_a_text_begins(positions: str) -> None:
    encoding = PositionalEncoding(tiny_config(positions=positions, max_positions=9))
    x, table = torch.randn(2, 9, 16), encoding.table(9)
    whole = encoding(x)
    for start in range(9):
        assert torch.equal(encoding(x[:, start:], offset=start), whole[:, start:])
    if positions == "none":
        assert table is None
        assert torch.equal(whole, x)
    else:
        assert torch.equal(encoding(torch.zeros(1, 9, 16))[0], table)
    assert len(list(encoding.parameters())) == (positions == "learned")


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
