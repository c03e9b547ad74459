"""Bootstrap intervals over sentences, seeded, with the same resamples for everything that is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES, SEED, LEVEL = 1000, 0, 0.95


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value and the ends of its 95 % interval over sentences, arrays of one shape; NaN without data."""

    value: Floats
    low: Floats
    high: Floats

    def differs_from_zero(self) -> NDArray[np.bool_]:
        """Whether the interval excludes 0."""
        differs: NDArray[np.bool_] = (self.low > 0) | (self.high < 0)
        return differs

    def at(self, *place: int) -> tuple[float, float, float]:
        """Value, low and high at one place."""
        return float(self.value[place]), float(self.low[place]), float(self.high[place])

    def text(self, write: Callable[[float], str], *place: int) -> str:
        """Write the value at one place with the ends of its interval: "0.12 (0.10 to 0.15)"."""
        return "{} ({} to {})".format(*map(write, self.at(*place)))


def widened(item: Estimate, comparisons: int) -> Estimate:
    """Widen intervals so that all of this many hold at once with 95 % (Bonferroni, with a normal tail)."""
    usual, wide = (NormalDist().inv_cdf(1 - (1 - LEVEL) / (2 * n)) for n in (1, max(comparisons, 1)))
    low, high = (item.value + wide / usual * (end - item.value) for end in (item.low, item.high))
    return Estimate(item.value, low, high)


@lru_cache(maxsize=8)
def resamples(n: int) -> Floats:
    """How often each of n sentences is drawn in each resample (Efron & Tibshirani 1993, ch. 6): [resample, sentence].

    The same for equal n, so that two scores are compared on the same sentences.
    """
    rng = np.random.default_rng(SEED)
    counts: Floats = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
    counts.setflags(write=False)
    return counts


def of_mean(values: Floats) -> Estimate:
    """Mean over sentences of the finite values with its percentile interval: [sentence, ...] -> [...]."""
    finite = np.isfinite(values)
    return of_ratio(np.where(finite, values, 0.0), finite.astype(np.float64))


def of_ratio(numerators: Floats, denominators: Floats) -> Estimate:
    """Σ numerator / Σ denominator over sentences, such as a loss per token, with its percentile interval.

    Shapes: two of [sentence, ...] -> [...]. NaN where the denominators sum to 0.
    """
    counts = resamples(len(numerators))
    value = _quotient(numerators.sum(axis=0), denominators.sum(axis=0))
    resampled = _quotient(np.tensordot(counts, numerators, axes=1), np.tensordot(counts, denominators, axes=1))
    return Estimate(value, *interval(resampled))


def interval(resampled: Floats) -> tuple[Floats, Floats]:
    """The ends of the percentile interval (Efron & Tibshirani 1993, ch. 13): [resample, ...] -> two of [...].

    Resamples without a value (NaN) are left out.
    """
    ordered = np.sort(resampled, axis=0)  # NaN comes last
    count = np.isfinite(resampled).sum(axis=0)
    ends = []
    for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        position = share * np.maximum(count - 1, 0)
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        lower, upper = (np.take_along_axis(ordered, index[None], axis=0)[0] for index in (below, above))
        value = lower + (position - below) * (upper - lower)
        ends.append(np.where(count > 0, value, np.nan))
    return ends[0], ends[1]


def _quotient(numerator: Floats, denominator: Floats) -> Floats:
    nan = np.full(np.shape(numerator), np.nan)
    quotient: Floats = np.divide(numerator, denominator, out=nan, where=np.asarray(denominator) > 0)
    return quotient
