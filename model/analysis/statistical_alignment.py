"""A statistical word aligner: IBM Model 1 with a prior that favours the diagonal, trained on sentence pairs.

p(a target word f_j | a source sentence e) = Σ_i δ(i | j) · t(f_j | e_i), with δ(0 | j) = p₀ for the empty word and
δ(i | j) = (1 - p₀) · exp(-λ |i / n - j / m|) / Z_j for word i of n, j of m. t is learned by expectation maximisation
with a Dirichlet prior (Dyer, Chahuneau & Smith 2013, "A Simple, Fast, and Effective Reparameterization of IBM Model 2",
who learn λ as well; here it stays at their initial value). Both directions are trained: links of both are sure, links
of either are possible.

The aligner uses only which words occur together and where. Its links are not gold links, and are always labelled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model.analysis.word_alignment import error_rate
from model.data.scenes import scenes, word_spans
from model.data.task import WordLinks

EMPTY = 0.08  # p₀, the prior of the empty word
TENSION = 4.0  # λ
SMOOTHING = 0.01  # of the Dirichlet prior
ROUNDS = 8
NOTHING = 0  # the id of the empty word
# t of a word that did not occur in training, so that only the positions decide, and of two words that occurred but
# never together, which is less than any learned value.
UNKNOWN_WORD, UNKNOWN_PAIR = 1e-9, 1e-200

Ids = NDArray[np.int64]
Pair = tuple[str, str]
Links = frozenset[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Aligner:
    """Two trained tables: target words given source words, and the reverse; `pairs` is the number of training pairs."""

    forward: Table
    backward: Table
    pairs: int

    def links(self, source: str, target: str) -> WordLinks:
        """The links of a pair: sure ones that both directions find, possible ones that either finds."""
        source_spans, target_spans = word_spans(source), word_spans(target)
        source_words, target_words = _words(source, source_spans), _words(target, target_spans)
        forward = self.forward.best(source_words, target_words)
        backward = frozenset((i, j) for j, i in self.backward.best(target_words, source_words))
        return WordLinks(tuple(source_spans), tuple(target_spans), forward & backward, forward | backward)


@dataclass(frozen=True, eq=False)
class Table:
    """t(f | e) of one direction: `sources` and `targets` number the words; `cells` are the pairs that occur, sorted."""

    sources: dict[str, int]
    targets: dict[str, int]
    cells: Ids
    t: NDArray[np.float64]

    def best(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """The likeliest source word of each target word, as (source, target); none if the empty word is likelier."""
        if not source or not target:
            return frozenset()
        e = np.array([NOTHING, *(self.sources.get(word, -1) for word in source)])
        f = np.array([self.targets.get(word, -1) for word in target])
        pairs = e[None, :] * len(self.targets) + f[:, None]  # [target, empty and source]
        at = np.minimum(np.searchsorted(self.cells, pairs), len(self.cells) - 1)
        known_words = (e >= 0)[None, :] & (f >= 0)[:, None]
        known_pairs = known_words & (self.cells[at] == pairs)
        t = np.where(known_pairs, self.t[at], np.where(known_words, UNKNOWN_PAIR, UNKNOWN_WORD))
        best = (t * prior(len(source), len(target))).argmax(axis=1)
        return frozenset((int(i) - 1, j) for j, i in enumerate(best) if i != NOTHING)


def prior(n: int, m: int) -> NDArray[np.float64]:
    """δ(i | j): [target word, empty word and source words], for n source and m target words; rows sum to 1."""
    closeness = np.exp(-TENSION * np.abs((np.arange(n) + 1)[None, :] / n - (np.arange(m) + 1)[:, None] / m))
    diagonal = (1 - EMPTY) * closeness / closeness.sum(axis=1, keepdims=True)
    return np.concatenate([np.full((m, 1), EMPTY), diagonal], axis=1)


def train_aligner(pairs: Sequence[Pair], report: Callable[[float], None] = lambda done: None) -> Aligner:
    """Train both directions on pairs of sentences; `report` is called with the share done and may raise.

    Raises:
        ValueError: no pair has words on both sides.
    """
    words = [(_words(src, word_spans(src)), _words(tgt, word_spans(tgt))) for src, tgt in pairs]
    words = [pair for pair in words if pair[0] and pair[1]]
    if not words:
        raise ValueError("there are no sentence pairs with words on both sides to learn an alignment from.")
    forward = _train_table(words, lambda done: report(done / 2))
    backward = _train_table([(tgt, src) for src, tgt in words], lambda done: report(0.5 + done / 2))
    return Aligner(forward, backward, len(words))


def _train_table(words: Sequence[tuple[list[str], list[str]]], report: Callable[[float], None]) -> Table:
    """Learn t(target word | source word) from pairs of sentences as words."""
    sources = _numbered((word for source, _ in words for word in source), first=NOTHING + 1)
    targets = _numbered((word for _, target in words for word in target), first=0)
    keys, rows, priors, row = [], [], [], 0
    for source, target in words:
        e = np.array([NOTHING, *(sources[word] for word in source)])
        f = np.array([targets[word] for word in target])
        keys.append((e[None, :] * len(targets) + f[:, None]).ravel())
        rows.append(np.repeat(np.arange(row, row + len(f)), len(e)))
        priors.append(prior(len(source), len(target)).ravel())
        row += len(f)
    cells, at = np.unique(np.concatenate(keys), return_inverse=True)
    row_of, delta = np.concatenate(rows), np.concatenate(priors)
    word_of = cells // len(targets)  # the source word of each cell
    t = np.ones(len(cells))
    for nth in range(ROUNDS):
        report(nth / ROUNDS)
        joint = delta * t[at]
        share = joint / np.bincount(row_of, weights=joint, minlength=row)[row_of]
        counts = np.bincount(at, weights=share, minlength=len(cells)) + SMOOTHING
        total = np.bincount(word_of, weights=counts)[word_of]
        t = np.exp(_digamma(counts) - _digamma(total))  # the mean of ln t under the Dirichlet posterior
    return Table(sources, targets, cells, t)


def _digamma(values: NDArray[np.floating]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = torch.digamma(torch.from_numpy(values)).numpy()
    return result


def _numbered(words: Iterator[str], first: int) -> dict[str, int]:
    return {word: i for i, word in enumerate(dict.fromkeys(words), start=first)}


def _words(sentence: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return [sentence[start:end].lower() for start, end in spans]


def scenes_error_rate(aligner: Aligner, src_lang: str) -> float:
    """The alignment error rate of the aligner's sure links on the annotated scenes (Och & Ney 2003); 0 is perfect."""
    hits = total = 0
    for scene in scenes():
        gold = scene.example(src_lang)
        assert gold.links is not None
        links = aligner.links(gold.source, gold.target).sure
        hits += len(links & gold.links.sure) + len(links & (gold.links.possible | gold.links.sure))
        total += len(links) + len(gold.links.sure)
    return float(error_rate(np.array(float(hits)), np.array(float(total))))


@functools.cache
def error_rate_on_scenes(src_lang: str) -> float:
    """The alignment error rate of an aligner that is trained on the scenes alone (without their links)."""
    pairs = [(example.source, example.target) for example in (scene.example(src_lang) for scene in scenes())]
    return scenes_error_rate(train_aligner(pairs), src_lang)
