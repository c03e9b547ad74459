"""Corpus-level statistics, as the literature defines them, in addition to the means over sentences.

A mean over sentences gives a short sentence the same weight as a long one. The alignment error rate of Och & Ney (2003)
counts links, summed over all sentences before the division. The variation of coverage here is over all source tokens of
the sample (Tu et al. 2016 define the coverage of one token).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.probing import formulas, pattern_cells
from model.analysis.recorded_batches import Observed
from model.analysis.word_alignment import error_rate, token_counts, word_counts

Scores = NDArray[np.float64]
NAMES = ("error_rate", "error_rate_input", "coverage_spread")


@dataclass(frozen=True, eq=False)
class CorpusScores:
    """One corpus-level statistic of all cross-attention heads.

    Shapes: own [layer, head]; untrained and its standard deviation untrained_std [layer]; uniform is one number.
    `sentences`: the number of sentences it is based on.
    """

    own: Scores
    uniform: float
    untrained: Scores
    untrained_std: Scores
    sentences: int


def sums(observed: Observed, weights: NDArray[np.floating]) -> dict[str, Scores]:
    """The parts that one sentence adds to the sums of each statistic: [..., query, key] -> [part, ...]."""
    cells = pattern_cells.patterns(observed, "cross")
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
    """The statistic from its summed parts, [part, ...] -> [...]; NaN where there is nothing to divide by.

    AER = 1 - (Σ|A∩S| + Σ|A∩P|) / (Σ|A| + Σ|S|) (Och & Ney 2003); standard deviation of the coverage over its mean.
    """
    if name == "coverage_spread":
        count, summed, squares = total
        mean = np.divide(summed, count, out=np.full_like(summed, np.nan), where=count > 0)
        deviation = np.sqrt(np.maximum(squares / np.maximum(count, 1) - mean**2, 0.0))
        variation: Scores = np.divide(deviation, mean, out=np.full_like(mean, np.nan), where=mean > 1e-9)
        return variation
    return error_rate(*total)


@dataclass
class CorpusTally:
    """Sums the parts of one sentence after another; call `result` at the end."""

    _own: dict[str, Scores] = field(default_factory=dict)
    _uniform: dict[str, Scores] = field(default_factory=dict)
    _sentences: dict[str, int] = field(default_factory=dict)

    def add(self, observed: Observed, weights: NDArray[np.floating]) -> None:
        """Add one sentence; weights [model, layer, head, query, key] of cross-attention, the model itself first."""
        even = sums(observed, formulas.uniform_like(pattern_cells.visible(observed, "cross")))
        for name, parts in sums(observed, weights).items():
            self._own[name] = self._own.get(name, np.zeros_like(parts)) + parts
            self._uniform[name] = self._uniform.get(name, np.zeros_like(even[name])) + even[name]
            self._sentences[name] = self._sentences.get(name, 0) + 1

    def result(self) -> dict[str, CorpusScores]:
        """Every statistic by name."""
        statistics = {}
        for name in NAMES:
            if name not in self._own:
                continue
            values = from_sums(name, self._own[name])  # [model, layer, head]
            seeds = np.moveaxis(values[1:], 1, 0).reshape(values.shape[1], -1)  # [layer, seed and head]
            statistics[name] = CorpusScores(
                own=values[0],
                uniform=float(from_sums(name, self._uniform[name])),
                untrained=seeds.mean(axis=1),
                untrained_std=seeds.std(axis=1),
                sentences=self._sentences[name],
            )
        return statistics
