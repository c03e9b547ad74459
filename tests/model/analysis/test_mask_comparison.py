"""Comparisons of runs with and without a mask, on weights and decodings written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from model.analysis.mask_effects import (
    GreedyTranslation,
    attention_to_future,
    attention_to_keys,
    first_difference,
    largest_change,
    most_ahead,
)

WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.2, 0.3, 0.5]], dtype=np.float32)


def test_attention_to_the_future_is_the_upper_triangle() -> None:
    assert attention_to_future(WEIGHTS) == pytest.approx((0.5 + 0.4 + 0) / 3)
    assert attention_to_future(WEIGHTS, np.array([True, False, True])) == pytest.approx(0.25)
    assert attention_to_future(np.tril(WEIGHTS)) == 0


def test_attention_to_keys_counts_the_chosen_rows_and_keys() -> None:
    rows, keys = np.array([True, True, False]), np.array([False, False, True])
    assert attention_to_keys(WEIGHTS, rows, keys) == pytest.approx((0.2 + 0.4) / 2)
    several = np.stack([WEIGHTS, np.zeros_like(WEIGHTS)])[None]
    assert attention_to_keys(several, rows, keys) == pytest.approx(0.15)


def test_the_head_that_looks_ahead() -> None:
    weights = np.zeros((2, 2, 3, 3), dtype=np.float32)
    weights[1, 0, [0, 1], [1, 2]] = 0.5, 1.0
    assert most_ahead(weights) == (1, 0, 0.75)
    assert most_ahead(np.ones((2, 3, 1, 1), dtype=np.float32)) == (0, 0, 1.0)


def test_two_decodings_are_compared_up_to_the_token_that_differs() -> None:
    one, other = GreedyTranslation((4, 5, 6), (0.9, 0.8, 0.1)), GreedyTranslation((4, 7, 6), (0.85, 0.5, 0.9))
    assert first_difference(one.path, other.path) == 1
    assert largest_change(one, other) == pytest.approx(0.3)
    assert first_difference((4, 5), (4, 5, 6)) is None
    assert largest_change(one, one) == 0
    assert largest_change(GreedyTranslation((), ()), one) == 0
