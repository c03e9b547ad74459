"""The exact rank-sum test, beside every way to shuffle the values, and Holm's correction."""

from __future__ import annotations

from itertools import combinations
from math import inf

import numpy as np
import pytest

from model.analysis.rank_test import holm, rank_sum


@pytest.mark.parametrize(
    ("first", "other"),
    [([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), ([1.0, 2.0, 2.0, 7.0], [2.0, 3.0]), ([1.0, inf, inf], [0.5, 2.0, inf, 3.0])],
)
def test_every_shuffle_is_counted(first: list[float], other: list[float]) -> None:
    values = np.array([*first, *other])
    ranks = [float((values < value).sum() + ((values == value).sum() + 1) / 2) for value in values]
    own = sum(ranks[len(first) :])
    sums = [sum(chosen) for chosen in combinations(ranks, len(other))]
    low, high = (sum(sign * total <= sign * own for total in sums) / len(sums) for sign in (1, -1))
    assert rank_sum(first, other) == pytest.approx((low, high))


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.04, 0.01, 0.03, 0.9]) == pytest.approx([0.09, 0.04, 0.09, 0.9])
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1.0, 1.0]
