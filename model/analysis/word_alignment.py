"""Word alignments from attention weights, and their alignment error rate (Och & Ney 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.data.task import Alignment, Span, WordLinks
from model.text.tokenizer import Encoding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordGold:
    """The links of a tokenised pair.

    Shapes: sure, possible: bool [target word, source word]; sources, targets: bool [word, token] without <eos>, whether
    a token has a character of a word.
    """

    sure: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    sources: NDArray[np.bool_]
    targets: NDArray[np.bool_]


def word_gold(links: WordLinks, source: Encoding, target: Encoding) -> WordGold:
    """The links as matrices, for the tokens of a source and a target."""
    shape = (len(links.target), len(links.source))
    sure, possible = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    for matrix, pairs in ((sure, links.sure), (possible, links.possible)):
        for source_word, target_word in pairs:
            matrix[target_word, source_word] = True
    return WordGold(sure, possible | sure, _members(links.source, source), _members(links.target, target))


def aligned_tokens(links: WordLinks, source: Encoding, target: Encoding) -> Alignment:
    """For each target token, the source tokens of the words that its word is linked with (surely or possibly)."""
    gold = word_gold(links, source, target)
    words = gold.targets.T.astype(np.int64) @ gold.possible  # [tgt, source word]
    cells = words @ gold.sources > 0  # [tgt, src]
    return tuple(tuple(int(i) for i in np.flatnonzero(row)) for row in cells)


def _members(spans: Sequence[Span], encoding: Encoding) -> NDArray[np.bool_]:
    """[word, token]: whether a token has a character of a word."""
    words = np.array(spans, dtype=np.int64).reshape(-1, 2)
    tokens = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    members: NDArray[np.bool_] = (words[:, None, 0] < tokens[None, :, 1]) & (tokens[None, :, 0] < words[:, None, 1])
    return members


def token_links(weights: NDArray[np.floating]) -> Floats:
    """The links that weights suggest: 1 at each row's largest weight, split evenly among ties.

    [..., query, key] -> the same shape. If all m_i weights are equal, each key gets 1 / m_i, as by random guessing.
    """
    largest = weights.max(axis=-1, keepdims=True)
    ties = (weights == largest) & (largest > 0)
    suggested: Floats = ties / np.maximum(ties.sum(axis=-1, keepdims=True), 1)
    return suggested


def word_links(weights: NDArray[np.floating], gold: WordGold, *, read: bool = False) -> Floats:
    """The links between words, 0 to 1: two words are linked if any of their tokens are (Garg et al. 2019, §5.1).

    With split ties, it is the probability of a link. The row of a target token is the one that predicts it or, with
    `read`, the one that reads it. A largest weight on <eos>, the last key, suggests no link.

    Shapes: weights [..., query, key], rows and keys with <eos>; returns [..., target word, source word].
    """
    n = gold.targets.shape[1]
    first = 1 if read else 0
    tokens = token_links(weights)[..., first : first + n, : gold.sources.shape[1]]  # [..., tgt, src]
    by_source = tokens @ gold.sources.T.astype(np.float64)  # [..., tgt, source word]
    # Words are not linked if none of their tokens are: the probabilities of that are multiplied.
    log_missed = np.log1p(-np.minimum(by_source, 1 - 1e-12))
    linked: Floats = -np.expm1(gold.targets.astype(np.float64) @ log_missed)
    return linked


def word_counts(weights: NDArray[np.floating], gold: WordGold, *, read: bool = False) -> tuple[Floats, Floats]:
    """|A∩S| + |A∩P| and |A| + |S| of one pair, from which AER = 1 - Σ first / Σ second (Och & Ney 2003, §5.1, eq. 33).

    A: the links that the weights suggest, S and P: sure and possible links. Shapes: [..., query, key] -> two of [...].
    """
    return counts(word_links(weights, gold, read=read), gold.sure, gold.possible)


def counts(suggested: Floats, sure: NDArray[np.bool_], possible: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """As :func:`word_counts`, for given links [..., target word, source word] and two of [target word, source word]."""
    hits: Floats = (suggested * (sure.astype(np.float64) + possible)).sum(axis=(-2, -1))
    total: Floats = suggested.sum(axis=(-2, -1)) + sure.sum()
    return hits, total


def token_counts(weights: NDArray[np.floating], gold: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """As :func:`word_counts`, between tokens, with gold links that are not marked as sure.

    Only rows with a gold token count. P are all gold tokens, S those of rows with only one of them. Links to <eos>, the
    last key, are left out of A. Shapes: [..., query, key] and [query, key] -> two of [...].
    """
    rows = gold.any(axis=-1)
    suggested = token_links(weights[..., rows, :])
    suggested[..., -1] = 0.0
    possible = gold[rows]
    return counts(suggested, possible & (possible.sum(axis=-1, keepdims=True) == 1), possible)


def gold_cells(alignment: Alignment, n_rows: int, n_keys: int, *, read: bool = False) -> NDArray[np.bool_]:
    """[query, key]: the gold source tokens of the token that each row predicts or, with `read`, has just read.

    Row t predicts target token t and row t + 1 reads it, so the two differ by one row. The row that reads a token often
    aligns better (Chen et al. 2020, Shift-Att).
    """
    cells = np.zeros((n_rows, n_keys), dtype=np.bool_)
    for row, positions in enumerate(alignment, start=1 if read else 0):
        for position in positions:
            if row < n_rows and 0 <= position < n_keys:
                cells[row, position] = True
    return cells


def error_rate(hits: Floats, total: Floats) -> Floats:
    """AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|) from its parts; 0 is perfect, NaN without any links."""
    rate: Floats = 1 - np.divide(hits, total, out=np.full_like(hits, np.nan), where=total > 0)
    return rate
