"""Entropy of rows, and the effective number of keys."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.attention_maps import effective_keys, entropy


def test_entropy_of_known_rows() -> None:
    rows = np.array([[1.0, 0.0, 0.0, 0.0], [0.25] * 4, [0.5, 0.5, 0.0, 0.0], [0.0] * 4], dtype=np.float32)
    np.testing.assert_allclose(entropy(rows), [0.0, math.log(4), math.log(2), 0.0], atol=1e-12)
    np.testing.assert_allclose(effective_keys(rows), [1, 4, 2, 1], atol=1e-12)


def test_leading_axes_are_kept() -> None:
    weights = np.full((2, 3, 5, 4), 0.25, np.float32)
    assert effective_keys(weights).shape == (2, 3, 5)
    assert effective_keys(weights) == pytest.approx(4)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12).filter(lambda row: sum(row) > 0.01))
def test_zeros_do_not_count_and_no_row_looks_at_more_keys_than_it_has(row: list[float]) -> None:
    weights = np.array(row, np.float32) / np.float32(sum(row))
    seen = weights[weights > 0].astype(np.float64)
    assert float(entropy(weights)) == pytest.approx(-float((seen * np.log(seen)).sum()), abs=1e-12)
    assert 0.999 <= float(effective_keys(weights)) <= len(row) * 1.001
