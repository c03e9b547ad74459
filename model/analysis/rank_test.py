"""Statistics of ranks: the exact interval of a shift between two small groups, and a correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def shift_interval(first: Sequence[float], other: Sequence[float], level: float) -> tuple[float, float, float]:
    """The shift from `first` to `other`, the median of all pairs' differences, and its interval at 1 − `level`.

    The interval has the shifts that the exact two-sided rank-sum test does not reject (Hodges & Lehmann 1963; Wilcoxon
    1945). It is infinite if so few values can reject none. Ties make it wider than need be, never narrower.
    """
    differences = np.sort(np.subtract.outer(np.asarray(other), np.asarray(first)).ravel())
    cut, rejected = 0, 0
    for ways in _ways(len(first), len(other)):
        rejected += ways
        if rejected / math.comb(len(first) + len(other), len(other)) > level / 2:
            break
        cut += 1
    middle = float(np.median(differences))
    return (middle, float(differences[cut - 1]), float(differences[-cut])) if cut else (middle, -math.inf, math.inf)


def _ways(first: int, other: int) -> list[int]:
    """In how many orders of the values 0, 1, 2 … pairs have the value of `other` below that of `first`."""
    ways = [1] + [0] * (first * other)
    for size in range(1, other + 1):  # the Gaussian binomial coefficient, factor by factor
        for n in range(len(ways) - 1, first + size - 1, -1):
            ways[n] -= ways[n - first - size]
        for n in range(size, len(ways)):
            ways[n] += ways[n - size]
    return ways


def rank_correlation(first: ArrayLike, second: ArrayLike) -> tuple[float, float, float]:
    """Spearman's correlation of two scores of the same items, ties sharing their mean rank, and its 95 % interval.

    The interval is Fisher's, with the error of ranks (Fieller, Hartley & Pearson 1957); NaN below four items.
    """
    ranks = [np.unique(scores, return_inverse=True, return_counts=True)[1:] for scores in (first, second)]
    one, other = ((2 * np.cumsum(n) - n)[inverse].astype(np.float64) for inverse, n in ranks)
    value = float(np.corrcoef(one, other)[0, 1])
    if len(one) < 4:
        return value, math.nan, math.nan
    half = 1.96 * 1.03 / math.sqrt(len(one) - 3)
    with np.errstate(divide="ignore"):
        low, high = (float(np.tanh(np.arctanh(value) + side * half)) for side in (-1, 1))
    return value, low, high
