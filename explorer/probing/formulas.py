"""Formulas over attention weights of one sentence; pure functions, any axes in front.

Weights are a_ij of query i on key j; rows sum to 1 over the keys that they see, m_i of them. Each function gives the
mean over the rows that are asked for, and NaN where there is none. What uniform attention would score is found by
giving it uniform weights: no formula has a separate one for chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.attention.entropy import entropy

Scores = NDArray[np.float64]
Cells = NDArray[np.bool_]


def mean_over(values: Scores, rows: Cells) -> Scores:
    """Mean of [..., query] over the chosen rows; NaN without any."""
    if not rows.any():
        return np.full(values.shape[:-1], np.nan)
    mean: Scores = values[..., rows].mean(axis=-1)
    return mean


def effective_keys(weights: NDArray[np.floating], rows: Cells) -> Scores:
    """exp(H_i): as how many keys looked at equally; the perplexity of the row. 1 to m_i."""
    return mean_over(np.exp(entropy(weights)), rows)


def normalised_entropy(weights: NDArray[np.floating], seen: Cells, rows: Cells) -> Scores:
    """H_i / ln m_i, from 0 (one key) to 1 (all keys alike), over rows that see more than one key.

    Causal rows see few keys at first: dividing each row by its own ln m_i keeps decoder heads from looking focused
    only because of the mask.
    """
    counts = seen.sum(axis=-1)
    kept = rows & (counts > 1)
    return mean_over(entropy(weights) / np.log(np.where(counts > 1, counts, 2)), kept)


def confidence(weights: NDArray[np.floating], rows: Cells, keys: Cells) -> Scores:
    """max_j a_ij over the given keys, without the end of the sentence (Voita et al. 2019, §4)."""
    if not keys.any():
        return np.full(weights.shape[:-2], np.nan)
    return mean_over(weights[..., keys].max(axis=-1).astype(np.float64), rows)


def mean_distance(weights: NDArray[np.floating], rows: Cells) -> Scores:
    """Σ_j a_ij |i - j| in tokens (Vig & Belinkov 2019); for self-attention, where i and j share an axis."""
    n = weights.shape[-1]
    apart = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    return mean_over((weights.astype(np.float64) * apart).sum(axis=-1), rows)


def share(weights: NDArray[np.floating], cells: Cells) -> Scores:
    """Σ_j a_ij over the cells, mean over the rows that have any: a perfect head scores 1.

    (Published detectors divide by all n rows, so that a perfect previous-token head scores (n - 1) / n.)
    """
    rows = np.atleast_1d(cells.any(axis=-1))
    return mean_over(np.einsum("...qk,qk->...q", weights, cells, dtype=np.float64), rows)


def share_without(weights: NDArray[np.floating], cells: Cells, sinks: Cells) -> Scores:
    """The share of the cells in the weight that does not go to sinks: Σ a_ij over cells / Σ a_ij over keys, no sinks.

    Over the rows with a cell outside the sinks, weighted by what they spend outside: a row that parks everything on a
    sink says nothing about where else the head looks. NaN where nothing is left.
    """
    kept = cells & ~sinks
    rows = kept.any(axis=-1)
    if not rows.any():
        return np.full(weights.shape[:-2], np.nan)
    spent = weights[..., rows, :][..., ~sinks].sum(axis=(-2, -1), dtype=np.float64)
    found = np.einsum("...qk,qk->...", weights[..., rows, :], kept[rows], dtype=np.float64)
    quotient: Scores = np.divide(found, spent, out=np.full_like(found, np.nan), where=spent > 1e-9)
    return quotient


def links(weights: NDArray[np.floating]) -> Scores:
    """The alignment that a head suggests: 1 at each row's largest weight, divided evenly where several are largest.

    [..., query, key] -> the same shape. With a_ij all alike, each key gets 1 / m_i: the expected value of a guess.
    """
    largest = weights.max(axis=-1, keepdims=True)
    ties = (weights == largest) & (largest > 0)
    total = ties.sum(axis=-1, keepdims=True)
    suggested: Scores = ties / np.maximum(total, 1)
    return suggested


def alignment_accuracy(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """Share of the rows with a known source token whose largest weight is on (one of) the right one(s)."""
    rows = np.atleast_1d(gold.any(axis=-1))
    return mean_over((links(weights) * gold).sum(axis=-1), rows)


def alignment_counts(weights: NDArray[np.floating], gold: Cells) -> tuple[Scores, Scores]:
    """|A∩S| + |A∩P| and |A| + |S| of one sentence (Och & Ney 2003), in rows with a known source token.

    A are the head's links, those to <eos> (the last key) left out. P are the right tokens; sure links S are those of
    rows with only one. Shapes: [..., query, key] and [query, key] -> two of [...].
    """
    rows = gold.any(axis=-1)
    suggested = links(weights)[..., rows, :]
    suggested[..., -1] = 0.0
    possible = gold[rows]
    sure = possible & (possible.sum(axis=-1, keepdims=True) == 1)
    hits: Scores = (suggested * possible).sum(axis=(-2, -1)) + (suggested * sure).sum(axis=(-2, -1))
    total: Scores = suggested.sum(axis=(-2, -1)) + sure.sum()
    return hits, total


def alignment_error_rate(weights: NDArray[np.floating], gold: Cells) -> Scores:
    """AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|) of one sentence (see :func:`alignment_counts`), 0 is perfect."""
    if not gold.any():
        return np.full(weights.shape[:-2], np.nan)
    hits, total = alignment_counts(weights, gold)
    rate: Scores = 1 - np.divide(hits, total, out=np.zeros_like(hits), where=total > 0)
    return rate


def coverage(weights: NDArray[np.floating]) -> Scores:
    """c_j = Σ_i a_ij: how much a source token was read in the whole translation (Tu et al. 2016).

    [..., query, key] -> [..., key]; far above 1: read again and again; near 0: passed over.
    """
    total: Scores = weights.sum(axis=-2, dtype=np.float64)
    return total


def coverage_spread(weights: NDArray[np.floating]) -> Scores:
    """Standard deviation of the coverage of the source tokens (without <eos>) over its mean: 0 is even-handed."""
    covered = coverage(weights)[..., :-1]
    if covered.shape[-1] < 2:
        return np.full(covered.shape[:-1], np.nan)
    mean = covered.mean(axis=-1)
    spread: Scores = np.divide(covered.std(axis=-1), mean, out=np.full_like(mean, np.nan), where=mean > 1e-9)
    return spread


def uniform_like(seen: Cells) -> Scores:
    """[query, key]: equal weight on every key that a row sees, and nothing in a row that sees none."""
    even: Scores = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return even
