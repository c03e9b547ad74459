"""Formulas over the attention weights of one sentence, as pure functions with any leading axes.

Weights are a_ij of query i on key j; each row sums to 1 over the m_i keys that it sees. Each function returns the mean
over the requested rows, and NaN if there are none. The score of uniform attention comes from the same formulas, given
uniform weights.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import mean_over
from model.analysis.word_alignment import error_rate, token_counts, token_links

WITHOUT_SINKS = "_without_sinks"

Scores = NDArray[np.float64]
Cells = NDArray[np.bool_]


def normalised_entropy(entropies: Scores, seen: Cells, rows: Cells) -> Scores:
    """H_i / ln m_i, from 0 (one key) to 1 (all keys alike), over rows that see more than one key.

    The first causal rows see few keys. Dividing each row by its own ln m_i prevents decoder heads from looking focused
    only because of the mask.
    """
    counts = seen.sum(axis=-1)
    with_choice = rows & (counts > 1)
    return mean_over(entropies / np.log(np.where(counts > 1, counts, 2)), with_choice)


def confidence(weights: NDArray[np.floating], rows: Cells, keys: Cells) -> Scores:
    """max_j a_ij over the given keys, usually all but <eos> (Voita et al. 2019, §4)."""
    if not keys.any():
        return np.full(weights.shape[:-2], np.nan)
    return mean_over(weights[..., keys].max(axis=-1).astype(np.float64), rows)


def mean_distance(weights: NDArray[np.floating], rows: Cells) -> Scores:
    """Σ_j a_ij |i - j| in tokens (Vig & Belinkov 2019); for self-attention, where i and j share an axis."""
    n = weights.shape[-1]
    distances = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    return mean_over((weights.astype(np.float64) * distances).sum(axis=-1), rows)


class Shares:
    """Computes the share of the weight on each of many patterns at once: [..., query, key] -> [...] each.

    The share of a pattern is Σ_j a_ij over its cells, averaged over the rows that have such cells: a perfect head
    scores 1. (Published detectors divide by all n rows, so that a perfect previous-token head scores (n - 1) / n.)

    The share without sinks is a share of the weight outside the sinks: Σ a_ij over the cells outside them / Σ a_ij over
    all keys outside them. Both sums are over the rows with a cell outside the sinks, so a row counts by its weight
    outside: one that puts everything on a sink says nothing about where else the head looks. NaN if no weight is left.
    """

    def __init__(self, weights: NDArray[np.floating], sinks: Cells) -> None:
        self._weights = weights.reshape(*weights.shape[:-2], -1).astype(np.float64)
        self._sinks = sinks
        self._sums: dict[str, tuple[NDArray[np.float64], float]] = {}
        self._quotients: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def add(
        self,
        name: str,
        cells: Cells | NDArray[np.float64],
        rows: Cells | None = None,
        *,
        without_sinks: bool = False,
    ) -> None:
        """Request a pattern; `cells` [query, key] may be factors, for which `rows` must say which rows have any."""
        rows_with_cells = np.atleast_1d(cells.any(axis=-1)) if rows is None else rows
        self._sums[name] = cells.astype(np.float64).ravel(), float(rows_with_cells.sum())
        if without_sinks:
            outside = cells * ~self._sinks
            rows_outside = np.atleast_1d((outside > 0).any(axis=-1))
            total = rows_outside[:, None] & ~self._sinks
            self._quotients[name + WITHOUT_SINKS] = outside.astype(np.float64).ravel(), total.ravel().astype(np.float64)

    def result(self) -> dict[str, Scores]:
        """All shares by name."""
        factors = [cells for cells, _ in self._sums.values()]
        factors += [part for parts in self._quotients.values() for part in parts]
        sums = self._weights @ np.stack(factors, axis=-1)  # [..., factor]
        shares: dict[str, Scores] = {}
        for nth, (name, (_, rows)) in enumerate(self._sums.items()):
            shares[name] = sums[..., nth] / rows if rows else np.full(sums.shape[:-1], np.nan)
        first = len(self._sums)
        for nth, (name, (_, total)) in enumerate(self._quotients.items()):
            on_cells, outside = sums[..., first + 2 * nth], sums[..., first + 2 * nth + 1]
            defined = (outside > 1e-9) & bool(total.any())
            shares[name] = np.divide(on_cells, outside, out=np.full(outside.shape, np.nan), where=defined)
        return shares


def alignment_accuracy(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """Share of the rows with a known right source token whose largest weight is on one of the right tokens."""
    rows = np.atleast_1d(gold.any(axis=-1))
    return mean_over((token_links(weights) * gold).sum(axis=-1), rows)


def alignment_error_rate(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """AER of one sentence between tokens (see :func:`model.analysis.word_alignment.token_counts`); 0 is perfect."""
    if not gold.any():
        return np.full(weights.shape[:-2], np.nan)
    return error_rate(*token_counts(weights, gold))


def coverage(weights: NDArray[np.floating]) -> Scores:
    """c_j = Σ_i a_ij: how much weight a source token receives over the whole translation (Tu et al. 2016).

    [..., query, key] -> [..., key]; far above 1: read repeatedly; near 0: hardly read.
    """
    total: Scores = weights.sum(axis=-2, dtype=np.float64)
    return total


def coverage_variation(weights: NDArray[np.floating]) -> Scores:
    """Coefficient of variation of the coverage of the source tokens (without <eos>): 0 if all are read equally."""
    token_coverage = coverage(weights)[..., :-1]
    if token_coverage.shape[-1] < 2:
        return np.full(token_coverage.shape[:-1], np.nan)
    mean = token_coverage.mean(axis=-1)
    variation: Scores = np.divide(token_coverage.std(axis=-1), mean, out=np.full_like(mean, np.nan), where=mean > 1e-9)
    return variation


def uniform_like(seen: Cells) -> Scores:
    """[query, key]: equal weight on every key that a row sees; a row that sees none is all zeros."""
    uniform: Scores = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return uniform


Floats = NDArray[np.float64]

BINS = 12


@lru_cache(maxsize=512)
def shares_of_bins(n: int, bins: int = BINS) -> Floats:
    """[bin, token]: the share of each of n equally wide tokens that lies in each bin; columns sum to 1."""
    edges, ends = np.arange(bins + 1) / bins, np.arange(n + 1) / n
    overlap = np.minimum(edges[1:, None], ends[None, 1:]) - np.maximum(edges[:-1, None], ends[None, :-1])
    shares: Floats = np.maximum(overlap, 0.0) * n
    shares.setflags(write=False)
    return shares


def relative_map(weights: NDArray[np.floating], bins: int = BINS) -> Floats:
    """Resample one sentence's maps onto a grid by relative position: [..., query, key] -> [..., bin, bin].

    A row of the result is the mean over the queries in it of their weights in each bin; rows still sum to 1.
    """
    rows = shares_of_bins(weights.shape[-2], bins)
    keys = shares_of_bins(weights.shape[-1], bins)
    averaged = (rows / rows.sum(axis=1, keepdims=True)) @ weights
    grid: Floats = averaged @ keys.T
    return grid
