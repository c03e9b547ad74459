"""Formulas over the attention weights of one sentence, as pure functions with any leading axes.

Weights are a_ij of query i on key j; each row sums to 1 over the m_i keys that it sees. Each function returns the mean
over the requested rows, and NaN if there are none. The score of uniform attention comes from the same formulas, given
uniform weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.attention.entropy import entropy
from model.analysis.word_alignment import WordGold, error_rate, token_counts, token_links, word_counts

Scores = NDArray[np.float64]
Cells = NDArray[np.bool_]


def mean_over(values: Scores, rows: Cells) -> Scores:
    """Mean of [..., query] over the chosen rows; NaN without any."""
    if not rows.any():
        return np.full(values.shape[:-1], np.nan)
    mean: Scores = values[..., rows].mean(axis=-1)
    return mean


def effective_keys(weights: NDArray[np.floating], rows: Cells) -> Scores:
    """exp(H_i), from 1 to m_i: the number of equally weighted keys with the same entropy; the perplexity of the row."""
    return mean_over(np.exp(entropy(weights)), rows)


def normalised_entropy(weights: NDArray[np.floating], seen: Cells, rows: Cells) -> Scores:
    """H_i / ln m_i, from 0 (one key) to 1 (all keys alike), over rows that see more than one key.

    The first causal rows see few keys. Dividing each row by its own ln m_i keeps decoder heads from looking focused
    only because of the mask.
    """
    counts = seen.sum(axis=-1)
    with_choice = rows & (counts > 1)
    return mean_over(entropy(weights) / np.log(np.where(counts > 1, counts, 2)), with_choice)


def confidence(weights: NDArray[np.floating], rows: Cells, keys: Cells) -> Scores:
    """max_j a_ij over the given keys, usually all but <eos> (Voita et al. 2019, §4)."""
    if not keys.any():
        return np.full(weights.shape[:-2], np.nan)
    return mean_over(weights[..., keys].max(axis=-1).astype(np.float64), rows)


def mean_distance(weights: NDArray[np.floating], rows: Cells) -> Scores:
    """Σ_j a_ij |i - j| in tokens (Vig & Belinkov 2019); for self-attention, where i and j share an axis."""
    n = weights.shape[-1]
    apart = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    return mean_over((weights.astype(np.float64) * apart).sum(axis=-1), rows)


def share(weights: NDArray[np.floating], cells: Cells) -> Scores:
    """Σ_j a_ij over the cells, averaged over the rows that have any: a perfect head scores 1.

    (Published detectors divide by all n rows, so that a perfect previous-token head scores (n - 1) / n.)
    """
    rows = np.atleast_1d(cells.any(axis=-1))
    return mean_over(np.einsum("...qk,qk->...q", weights, cells, dtype=np.float64), rows)


def share_without(weights: NDArray[np.floating], cells: Cells, sinks: Cells) -> Scores:
    """The share of the cells in the weight outside the sinks: Σ a_ij over the cells / Σ a_ij over all other keys.

    Taken over the rows with a cell outside the sinks, each weighted by its weight outside: a row that puts everything
    on a sink says nothing about where else the head looks. NaN where no weight is left.
    """
    outside = cells & ~sinks
    rows = outside.any(axis=-1)
    if not rows.any():
        return np.full(weights.shape[:-2], np.nan)
    total = weights[..., rows, :][..., ~sinks].sum(axis=(-2, -1), dtype=np.float64)
    on_cells = np.einsum("...qk,qk->...", weights[..., rows, :], outside[rows], dtype=np.float64)
    quotient: Scores = np.divide(on_cells, total, out=np.full_like(on_cells, np.nan), where=total > 1e-9)
    return quotient


def alignment_accuracy(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """Share of the rows with a known source token whose largest weight is on (one of) the right one(s)."""
    rows = np.atleast_1d(gold.any(axis=-1))
    return mean_over((token_links(weights) * gold).sum(axis=-1), rows)


def alignment_error_rate(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """AER of one sentence between tokens (see :func:`model.analysis.word_alignment.token_counts`); 0 is perfect."""
    if not gold.any():
        return np.full(weights.shape[:-2], np.nan)
    return error_rate(*token_counts(weights, gold))


def word_error_rate(weights: NDArray[np.floating], gold: WordGold, *, read: bool = False) -> Scores:
    """AER of one sentence between words, with sure and possible links (Och & Ney 2003, §5.1); 0 is perfect."""
    return error_rate(*word_counts(weights, gold, read=read))


def coverage(weights: NDArray[np.floating]) -> Scores:
    """c_j = Σ_i a_ij: how much weight a source token receives over the whole translation (Tu et al. 2016).

    [..., query, key] -> [..., key]; a value far above 1: read repeatedly; near 0: hardly read.
    """
    total: Scores = weights.sum(axis=-2, dtype=np.float64)
    return total


def coverage_variation(weights: NDArray[np.floating]) -> Scores:
    """Coefficient of variation of the coverage of the source tokens (without <eos>): 0 if all are read equally."""
    covered = coverage(weights)[..., :-1]
    if covered.shape[-1] < 2:
        return np.full(covered.shape[:-1], np.nan)
    mean = covered.mean(axis=-1)
    variation: Scores = np.divide(covered.std(axis=-1), mean, out=np.full_like(mean, np.nan), where=mean > 1e-9)
    return variation


def uniform_like(seen: Cells) -> Scores:
    """[query, key]: equal weight on every key that a row sees; a row that sees none is all zeros."""
    even: Scores = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return even
