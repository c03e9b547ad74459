"""Alternative position schemes, and the measurements of the properties that they lack."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.analysis import position_schemes as schemes
from model.analysis.position_schemes import WISHES, Wish, linear_miss, nearest_pair, wishes
from model.positions import rotate, rotations, sinusoidal_table, wavelengths

even = st.integers(1, 32).map(lambda half: 2 * half)
bases = st.sampled_from([2.0, 10.0, 10_000.0, 1e6])


@given(length=st.integers(2, 100), d_model=even, base=bases, data=st.data())
def test_one_rotation_moves_every_row(length: int, d_model: int, base: float, data: st.DataObject) -> None:
    offset = data.draw(st.integers(1, length - 1))
    table = sinusoidal_table(length, d_model, base)
    turned = rotate(table[:-offset], rotations(offset, d_model, base))
    assert turned.dtype == torch.float64
    assert (turned - table[offset:]).abs().max() < 1e-10
    one, rest, whole = (rotations(k, d_model, base) for k in (1, offset - 1, offset))
    torch.testing.assert_close(one @ rest, whole, rtol=0, atol=1e-11)
    torch.testing.assert_close(one @ one.transpose(-2, -1), torch.eye(2).double().expand_as(one), rtol=0, atol=1e-12)


@given(d_model=even, base=bases)
def test_a_wavelength_is_a_full_turn(d_model: int, base: float) -> None:
    waves = wavelengths(d_model, base)
    assert waves[0].item() == pytest.approx(2 * math.pi)
    angles = 2 * math.pi / waves
    torch.testing.assert_close(sinusoidal_table(2, d_model, base)[1, ::2], angles.sin(), rtol=0, atol=1e-12)


def kept(found: dict[str, Wish]) -> set[str]:
    return {wish for wish, verdict in found.items() if verdict.holds}


@pytest.mark.parametrize(
    ("rows", "broken"),
    [
        (schemes.sinusoidal_rows(10_000.0), set()),
        (schemes.no_table, {"unique"}),
        (schemes.integer_table, {"linear in the offset", "bounded"}),
        (schemes.normalised_table, {"linear in the offset", "extends to unseen lengths"}),
        (schemes.binary_table, {"linear in the offset", "any d_model"}),
    ],
)
@pytest.mark.parametrize(("length", "d_model"), [(64, 64), (100, 32), (17, 8)])
def test_what_each_scheme_breaks(rows: schemes.Rows, broken: set[str], length: int, d_model: int) -> None:
    found = wishes(rows, length, d_model)
    assert kept(found) == set(WISHES) - broken
    is_affine = rows in (schemes.integer_table, schemes.normalised_table)
    assert is_affine == found["linear in the offset"].measurement.startswith("affine")


def test_repeats_and_linear_maps_are_found_where_there_are_some() -> None:
    assert schemes.binary_table(4, 3).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert schemes.binary_table(3, 100).shape == (3, 100)
    assert nearest_pair(schemes.binary_table(5, 2)) == 0.0
    assert nearest_pair(sinusoidal_table(40, 8)) > 0.1
    assert nearest_pair(torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])) == 0.0
    assert nearest_pair(torch.zeros(1, 4)) == math.inf
    growing = torch.stack([2.0 ** torch.arange(8), 3.0 ** torch.arange(8)], dim=1).double()
    assert linear_miss(growing, 1) < 1e-9
    assert linear_miss(torch.arange(8.0).double()[:, None] ** 2, 1) > 0.01


def test_a_learned_table_is_what_was_trained_and_no_more() -> None:
    rows = schemes.learned_rows(torch.randn(40, 16, generator=torch.Generator().manual_seed(0)))
    assert kept(wishes(rows, 40, 16, trained=True)) == {"unique", "bounded"}
    with pytest.raises(ValueError, match="40 positions of 16"):
        rows(41, 16)
