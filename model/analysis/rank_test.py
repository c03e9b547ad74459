"""The exact interval of a shift between two small groups, by ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def shift_interval(first: Sequence[float], other: Sequence[float], level: float) -> tuple[float, float, float]:
    """The shift from `first` to `other`, the median of all pairs' differences, and its interval at 1 − `level`.

    The interval has the shifts that the exact two-sided rank-sum test does not reject (Hodges & Lehmann 1963; Wilcoxon
    1945). It is infinite if so few values can reject none. Ties make it wider than need be, never narrower.
    """
    differences = np.sort(np.subtract.outer(np.asarray(other), np.asarray(first)).ravel())
    cut, rejected = 0, 0
    for orders in _orders(len(first), len(other)):
        rejected += orders
        if rejected / math.comb(len(first) + len(other), len(other)) > level / 2:
            break
        cut += 1
    middle = float(np.median(differences))
    return (middle, float(differences[cut - 1]), float(differences[-cut])) if cut else (middle, -math.inf, math.inf)


def _orders(first: int, other: int) -> list[int]:
    """In how many orders of the values 0, 1, 2 … pairs have the value of `other` below that of `first`."""
    orders = [1] + [0] * (first * other)
    for size in range(1, other + 1):  # the Gaussian binomial coefficient, factor by factor
        for n in range(len(orders) - 1, first + size - 1, -1):
            orders[n] -= orders[n - first - size]
        for n in range(size, len(orders)):
            orders[n] += orders[n - size]
    return orders
