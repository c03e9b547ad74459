"""Statistics of ranks: the exact rank-sum test of two small groups, and Holm's correction for many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np


def rank_sum(first: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """The chance that groups drawn at random lie as far apart: `other` as low against `first`, and as high.

    The values are shuffled between the groups in every way (Wilcoxon 1945; Mann & Whitney 1947), and ties share their
    mean rank. Infinite values are ranked like others. Twice the smaller chance is the two-sided one.
    """
    values = np.array([*first, *other])
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(counts) - counts + 1  # twice the mean rank, a whole number
    ranks = doubled[inverse]
    totals = _subset_sums(tuple(sorted(int(rank) for rank in ranks)), len(other))
    own = int(ranks[len(first) :].sum())
    n = sum(totals.values())
    low = sum(count for total, count in totals.items() if total <= own)
    high = sum(count for total, count in totals.items() if total >= own)
    return low / n, high / n


@lru_cache(maxsize=1024)
def _subset_sums(ranks: tuple[int, ...], size: int) -> dict[int, int]:
    """The number of subsets of this size by the sum of their ranks."""
    by_size: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for rank in ranks:
        for taken in range(size, 0, -1):
            for total, count in by_size[taken - 1].items():
                by_size[taken][total + rank] = by_size[taken].get(total + rank, 0) + count
    return by_size[size]


def holm(chances: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false rejection in the family stays below the level (Holm 1979)."""
    adjusted, largest = [0.0] * len(chances), 0.0
    for nth, index in enumerate(np.argsort(chances, kind="stable")):
        largest = max(largest, min(1.0, (len(chances) - nth) * chances[index]))
        adjusted[index] = largest
    return adjusted
