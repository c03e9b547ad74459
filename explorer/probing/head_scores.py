"""One statistic of all heads of one kind, beside its baselines, as differences over the same sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SentenceScores:
    """One statistic, sentence by sentence; NaN where it applies to no row of a sentence.

    Shapes: own [sentence, layer, head]; uniform [sentence], the score of uniform attention on the same rows;
    untrained [sentence, layer], the mean over untrained models and the heads of the layer, which are equivalent before
    training; untrained_heads [layer, seed and head], the mean over sentences of each untrained head.
    """

    own: Scores
    uniform: Scores
    untrained: Scores
    untrained_heads: Scores


@dataclass(frozen=True, eq=False)
class HeadScores:
    """One statistic of all heads of one kind.

    Shapes: `estimate` [layer, head], the mean over sentences with its interval; std [layer, head]; untrained,
    untrained_std [layer]; uniform and uniform_std are single numbers. `over_uniform` and `over_untrained` [layer, head]
    are mean differences over the same sentences, with their intervals; `above_uniform` [layer, head] counts the
    sentences in which the head scores above uniform attention. `untrained_std` is the standard deviation between
    untrained heads. `sentences`: how many have a row to which the statistic applies. NaN: unknown.
    """

    estimate: Estimate
    std: Scores
    uniform: float
    uniform_std: float
    untrained: Scores
    untrained_std: Scores
    over_uniform: Estimate
    over_untrained: Estimate
    above_uniform: NDArray[np.int64]
    sentences: int

    @property
    def mean(self) -> Scores:
        """The mean over sentences, [layer, head]."""
        return self.estimate.value


def per_sentence(values: Scores, uniform: Scores) -> SentenceScores:
    """One statistic sentence by sentence, from values [sentence, model, layer, head] and uniform [sentence].

    The model itself comes first, then the untrained ones.
    """
    others = values[:, 1:]
    by_head = mean(others, 0)  # [seed, layer, head]
    return SentenceScores(
        own=values[:, 0],
        uniform=uniform,
        untrained=mean(np.moveaxis(others, 2, 1).reshape(len(values), values.shape[2], -1), 2),
        untrained_heads=np.moveaxis(by_head, 1, 0).reshape(values.shape[2], -1),
    )


def summarised(single: Mapping[str, SentenceScores]) -> dict[str, HeadScores]:
    """Means, intervals and differences over the sentences, of all statistics of one kind.

    All are resampled at once, which is many times faster than one by one.
    """
    if not single:
        return {}
    parts = []
    for item in single.values():
        own, uniform = item.own, item.uniform[:, None, None]
        parts.append(np.stack([own, own - uniform, own - item.untrained[..., None]], axis=1))
    found = bootstrap.of_mean(np.stack(parts, axis=1))  # [statistic, which, layer, head]
    return {name: _summary(item, found, nth) for nth, (name, item) in enumerate(single.items())}


def _summary(single: SentenceScores, found: Estimate, nth: int) -> HeadScores:
    own = single.own
    estimate, over_uniform, over_untrained = (
        Estimate(found.value[nth, which], found.low[nth, which], found.high[nth, which]) for which in range(3)
    )
    return HeadScores(
        estimate=estimate,
        std=std(own, 0),
        uniform=float(mean(single.uniform, 0)),
        uniform_std=float(std(single.uniform, 0)),
        untrained=mean(single.untrained_heads, 1),
        untrained_std=std(single.untrained_heads, 1),
        over_uniform=over_uniform,
        over_untrained=over_untrained,
        above_uniform=(own > single.uniform[:, None, None]).sum(axis=0),
        sentences=int(np.isfinite(own).any(axis=(1, 2)).sum()),
    )


def mean(values: Scores, axis: int) -> Scores:
    """Mean of the finite values; NaN where there are none."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=axis)
    count = known.sum(axis=axis)
    average: Scores = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return average


def std(values: Scores, axis: int) -> Scores:
    """Standard deviation of the finite values; NaN where there are none."""
    centred = values - np.expand_dims(mean(values, axis), axis)
    deviation: Scores = np.sqrt(mean(centred**2, axis))
    return deviation
