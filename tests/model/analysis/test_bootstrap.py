"""Intervals by resampling, and the exact rank test with Holm's correction."""

from itertools import combinations

import numpy as np

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


def test_intervals_of_shuffled_values_hold_no_shift_as_often_as_stated() -> None:
    values = [0.0, 1.0, 1.0, 2.0, 5.0, 7.0, 7.0, 9.0]
    found = []
    for chosen in combinations(range(8), 4):
        first, other = ([values[i] for i in range(8) if (i in chosen) is one] for one in (True, False))
        _, low, high = shift_interval(first, other, 0.1)
        found.append(low <= 0 <= high)
    assert 0.9 <= np.mean(found) < 1
