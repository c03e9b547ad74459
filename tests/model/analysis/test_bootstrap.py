"""Intervals by resampling, and the exact rank test with Holm's correction."""

from itertools import combinations
from math import inf

import numpy as np
import pytest

from model.analysis import bootstrap
from model.analysis.rank_test import shift_interval


def test_the_interval_is_that_of_resampled_means() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(40, 2, 3))
    values[::7, 1, 2] = np.nan
    found = bootstrap.of_mean(values)
    drawn = bootstrap.resamples(40)
    assert (drawn.sum(axis=1) == 40).all()
    assert np.allclose(found.value, np.nanmean(values, axis=0))
    means = []
    for counts in drawn:
        chosen = np.repeat(values, counts.astype(int), axis=0)
        means.append(np.nanmean(chosen, axis=0))
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    assert np.allclose(found.low, low)
    assert np.allclose(found.high, high)


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios() -> None:
    losses, tokens = np.array([1.0, 8.0, 3.0, 2.0]), np.array([2.0, 4.0, 30.0, 1.0])
    found = bootstrap.of_ratio(losses, tokens)
    assert found.value == losses.sum() / tokens.sum()
    quotients = [(counts @ losses) / (counts @ tokens) for counts in bootstrap.resamples(4)]
    assert np.allclose([found.low, found.high], np.percentile(quotients, [2.5, 97.5]))


def test_intervals_for_many_comparisons_are_wider_by_the_normal_tail() -> None:
    item = bootstrap.Estimate(np.array(1.0), np.array(0.0), np.array(3.0))
    same, many = bootstrap.widened(item, 1), bootstrap.widened(item, 100)
    assert (same.low, same.high) == (pytest.approx(0.0), pytest.approx(3.0))
    factor = 3.4808 / 1.9600  # z of 0.05 / 200 and of 0.05 / 2
    assert (many.low, many.high) == (pytest.approx(1 - factor, rel=1e-3), pytest.approx(1 + 2 * factor, rel=1e-3))


@pytest.mark.parametrize(("level", "cut"), [(0.05, 2), (0.02, 1), (0.01, 0)])
def test_a_shift_has_the_interval_that_the_rank_sum_test_does_not_reject(level: float, cut: int) -> None:
    first, other = [1.0, 2.0, 3.5, 5.0, 6.1], [4.2, 7.0, 8.4, 9.9]
    shift, low, high = shift_interval(first, other, level)
    differences = sorted(b - a for a in first for b in other)
    assert shift == pytest.approx(np.median(differences))
    # Of the 126 choices of four ranks of nine, one gives the smallest sum, one the next, and two the third.
    assert (low, high) == ((differences[cut - 1], differences[-cut]) if cut else (-inf, inf))
    sums = [sum(chosen) for chosen in combinations(range(9), 4)]

    def chance(moved: float) -> float:
        """The exact two-sided chance of the ranks of `other`, moved back by this much."""
        ranks = np.argsort(np.argsort([*first, *(value - moved for value in other)]))
        own = ranks[5:].sum()
        return 2 * min(np.mean([total <= own for total in sums]), np.mean([total >= own for total in sums]))

    for end, outwards in ((low, -1e-9), (high, 1e-9)) if cut else ():
        assert chance(end - outwards) > level >= chance(end + outwards)


def test_intervals_of_shuffled_values_hold_no_shift_as_often_as_stated() -> None:
    values = [0.0, 1.0, 1.0, 2.0, 5.0, 7.0, 7.0, 9.0]
    found = []
    for chosen in combinations(range(8), 4):
        first, other = ([values[i] for i in range(8) if (i in chosen) is one] for one in (True, False))
        _, low, high = shift_interval(first, other, 0.1)
        found.append(low <= 0 <= high)
    assert 0.9 <= np.mean(found) < 1


def test_nothing_known_is_not_a_number() -> None:
    found = bootstrap.of_mean(np.full((5, 2), np.nan))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert not found.differs_from_zero().any()
    constant = bootstrap.of_mean(np.ones(6))
    assert (constant.value, constant.low, constant.high) == (1, 1, 1)
