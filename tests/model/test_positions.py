from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.positions import PositionalEncoding, sinusoidal_table
from tests.tiny import tiny_config

even = st.integers(1, 32).map(lambda half: 2 * half)


@given(position=st.integers(0, 200), d_model=even, data=st.data())
def test_table_follows_the_papers_formula(position: int, d_model: int, data: st.DataObject) -> None:
    pair = data.draw(st.integers(0, d_model // 2 - 1))
    table = sinusoidal_table(position + 1, d_model)
    angle = position / 10000.0 ** (2 * pair / d_model)
    assert table.shape == (position + 1, d_model)
    assert table.dtype == torch.float64
    assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-12)
    assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


@given(position=st.integers(0, 150), shift=st.integers(0, 100), d_model=even)
def test_a_shift_is_one_rotation_for_every_position(position: int, shift: int, d_model: int) -> None:
    """PE(pos + k) = M_k · PE(pos), with M_k made of 2×2 rotations that do not know pos (the paper, §3.5)."""
    table = sinusoidal_table(position + shift + 1, d_model)
    here, there = table[position].view(-1, 2), table[position + shift].view(-1, 2)  # [pair, (sin, cos)]
    angle = shift * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    rotated = torch.stack(
        (
            here[:, 0] * angle.cos() + here[:, 1] * angle.sin(),
            here[:, 1] * angle.cos() - here[:, 0] * angle.sin(),
        ),
        dim=-1,
    )
    torch.testing.assert_close(rotated, there, rtol=0, atol=1e-11)


@given(first=st.integers(0, 80), second=st.integers(0, 80), shift=st.integers(0, 80), d_model=even)
def test_products_depend_only_on_the_distance(first: int, second: int, shift: int, d_model: int) -> None:
    table = sinusoidal_table(161, d_model)
    apart = table[first] @ table[second]
    assert (table[first + shift] @ table[second + shift]).item() == pytest.approx(apart.item(), abs=1e-10)


def test_all_rows_have_the_same_length_and_differ() -> None:
    table = sinusoidal_table(300, 32)
    torch.testing.assert_close(table.norm(dim=-1), torch.full((300,), 4.0, dtype=torch.float64), rtol=0, atol=1e-12)
    distance = torch.cdist(table, table) + 10 * torch.eye(300)
    assert distance.min() > 0.1


def test_the_base_sets_the_longest_wavelength() -> None:
    d_model, base = 64, 100.0
    slowest = sinusoidal_table(2, d_model, base=base)[1, -2]
    assert slowest.item() == pytest.approx(math.sin(base ** -((d_model - 2) / d_model)), abs=1e-12)


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="odd"):
        sinusoidal_table(4, 7)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_adding_at_an_offset_is_adding_to_a_longer_text(positions: str) -> None:
    encoding = PositionalEncoding(tiny_config(positions=positions))
    x = torch.randn(2, 9, 16)
    whole = encoding(x)
    for start in range(9):
        assert torch.equal(encoding(x[:, start:], offset=start), whole[:, start:])


def test_no_positions_change_nothing() -> None:
    encoding = PositionalEncoding(tiny_config(positions="none"))
    x = torch.randn(2, 5, 16)
    assert torch.equal(encoding(x), x)
    assert encoding.table(5) is None
    assert not list(encoding.parameters())


def test_what_is_added_is_the_table() -> None:
    encoding = PositionalEncoding(tiny_config(positions="sinusoidal"))
    table = sinusoidal_table(7, 16).float()
    assert torch.equal(encoding(torch.zeros(1, 7, 16))[0], table)
    assert torch.equal(encoding.table(7), table)
    assert not list(encoding.parameters())


def test_positions_beyond_the_learned_ones_raise_a_clear_error() -> None:
    encoding = PositionalEncoding(tiny_config(positions="learned", max_positions=8))
    assert encoding(torch.zeros(1, 8, 16)).shape == (1, 8, 16)
    assert torch.equal(encoding.table(8), encoding.embedding.weight)
    with pytest.raises(ValueError, match="8 positions"):
        encoding(torch.zeros(1, 9, 16))
    with pytest.raises(ValueError, match="8 positions"):
        encoding(torch.zeros(1, 1, 16), offset=8)


def test_sinusoidal_positions_go_on_beyond_the_prepared_table() -> None:
    encoding = PositionalEncoding(tiny_config(max_positions=8))
    torch.testing.assert_close(encoding.table(20), sinusoidal_table(20, 16).float(), rtol=0, atol=0)
