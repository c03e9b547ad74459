"""Corpus-level statistics as the literature defines them, beside the means over sentences.

A mean over sentences gives a short sentence the same weight as a long one. The alignment error rate of Och & Ney (2003)
counts links, summed over all sentences before the division. The variation of coverage here is over all source tokens of
the sample (Tu et al. 2016 define the coverage of one token).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.probing import pattern_cells
from explorer.probing import pattern_shares as formulas
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Observed
from model.analysis.word_alignment import error_rate, token_counts, word_counts

Scores = NDArray[np.float64]
NAMES = ("error_rate", "error_rate_input", "coverage_spread")


@dataclass(frozen=True, eq=False)
class CorpusScores:
    """One corpus-level statistic of all cross-attention heads.

    Shapes: `estimate` [layer, head] with its interval over sentences; `over_uniform` [layer, head], the difference from
    uniform attention on the same sentences; `of_mean` [layer], the statistic of the mean over the heads of a layer;
    untrained and its standard deviation untrained_std [layer]; uniform is one number. `sentences`: the number of
    sentences behind the statistic.
    """

    estimate: Estimate
    over_uniform: Estimate
    of_mean: Estimate
    uniform: float
    untrained: Scores
    untrained_std: Scores
    sentences: int

    @property
    def own(self) -> Scores:
        """The statistic of each head, [layer, head]."""
        return self.estimate.value


def sums(
    observed: Observed, weights: NDArray[np.floating], cells: Mapping[str, NDArray[np.bool_]] | None = None
) -> dict[str, Scores]:
    """The terms that one sentence adds to the sums of each statistic: [..., query, key] -> [part, ...].

    `cells` are the patterns of the sentence, if the caller has them already.
    """
    cells = pattern_cells.patterns(observed, "cross") if cells is None else cells
    parts = {"coverage_spread": _moments(formulas.coverage(weights)[..., :-1])}
    for place, name in (("aligned", "error_rate"), ("aligned_input", "error_rate_input")):
        if observed.links is not None:
            parts[name] = np.stack(word_counts(weights, observed.links, read=name != "error_rate"))
        elif place in cells and cells[place].any():
            parts[name] = np.stack(token_counts(weights, cells[place]))
    return parts


def _moments(covered: Scores) -> Scores:
    """The number of tokens, the sum of their coverage, and the sum of the squares: [..., src] -> [3, ...]."""
    return np.stack([np.full(covered.shape[:-1], covered.shape[-1]), covered.sum(axis=-1), (covered**2).sum(axis=-1)])


def from_sums(name: str, total: Scores) -> Scores:
    """Compute a statistic from its summed parts, [part, ...] -> [...]; NaN where the divisor is 0.

    AER = 1 - (Σ|A∩S| + Σ|A∩P|) / (Σ|A| + Σ|S|) (Och & Ney 2003); standard deviation of the coverage over its mean.
    """
    if name == "coverage_spread":
        count, summed, squares = total[0], total[1], total[2]
        mean = np.divide(summed, count, out=np.full_like(summed, np.nan), where=count > 0)
        deviation = np.sqrt(np.maximum(squares / np.maximum(count, 1) - mean**2, 0.0))
        variation: Scores = np.divide(deviation, mean, out=np.full_like(mean, np.nan), where=mean > 1e-9)
        return variation
    return error_rate(total[0], total[1])


@dataclass
class CorpusTally:
    """Accumulates the parts of sentences, added one by one in any order; call `result` at the end."""

    _own: dict[str, dict[int, Scores]] = field(default_factory=dict)
    _means: dict[str, dict[int, Scores]] = field(default_factory=dict)
    _uniform: dict[str, dict[int, Scores]] = field(default_factory=dict)

    def add(
        self,
        index: int,
        observed: Observed,
        weights: NDArray[np.floating],
        cells: Mapping[str, NDArray[np.bool_]] | None = None,
    ) -> None:
        """Add one sentence; weights [model, layer, head, query, key] of cross-attention, the model itself first.

        `cells` are the patterns of the sentence, if the caller has them already.
        """
        uniform = formulas.uniform_like(pattern_cells.visible(observed, "cross"))
        for collected, array in (
            (self._own, weights),
            (self._means, weights[0].mean(axis=1)),
            (self._uniform, uniform),
        ):
            for name, parts in sums(observed, array, cells).items():
                collected.setdefault(name, {})[index] = parts

    def result(self) -> dict[str, CorpusScores]:
        """Every statistic by name."""
        return {name: self._result(name) for name in NAMES if name in self._own}

    def _result(self, name: str) -> CorpusScores:
        own, means, even = (
            np.stack([parts for _, parts in sorted(collected[name].items())])
            for collected in (self._own, self._means, self._uniform)
        )  # [sentence, part, model, layer, head], [sentence, part, layer], [sentence, part]
        untrained = from_sums(name, own[:, :, 1:].sum(axis=0))  # [seed, layer, head]
        by_layer = np.moveaxis(untrained, 1, 0).reshape(own.shape[3], -1)  # [layer, seed and head]
        single, chance = _resampled(name, own[:, :, 0]), _resampled(name, even)
        return CorpusScores(
            estimate=_estimate(single),
            over_uniform=_estimate(single - chance[:, None, None]),
            of_mean=_estimate(_resampled(name, means)),
            uniform=float(chance[0]),
            untrained=by_layer.mean(axis=1),
            untrained_std=by_layer.std(axis=1),
            sentences=len(own),
        )


def _resampled(name: str, parts: Scores) -> Scores:
    """Compute a statistic over all sentences, then over each resample: [sentence, part, ...] -> [1 + resample, ...]."""
    drawn = np.concatenate([np.ones((1, len(parts))), bootstrap.resamples(len(parts))])
    total = np.tensordot(drawn, parts, axes=1)  # [1 + resample, part, ...]
    return from_sums(name, np.moveaxis(total, 1, 0))


def _estimate(values: Scores) -> Estimate:
    return Estimate(values[0], *bootstrap.interval(values[1:]))
