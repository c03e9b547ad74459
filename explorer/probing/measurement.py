"""Scores of a model's heads over a sample, each with its standard deviation, two baselines and the sample size.

The score of one sentence is a mean over its rows; the score of a head is the mean over sentences, with the standard
deviation over sentences. The baselines are the score of uniform attention on the same rows, and that of the same
architecture untrained, over several seeds and all heads of the layer (which are equivalent before training).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.probing import formulas, pattern_cells
from explorer.probing.corpus_scores import CorpusScores, CorpusTally
from explorer.probing.similarity import divergences
from model.analysis.recorded_batches import Observed, Weights
from model.config import ATTENTION_KINDS, AttentionKind

Scores = NDArray[np.float64]
WITHOUT_SINKS = "_without_sinks"


@dataclass(frozen=True)
class Statistic:
    """The title of a score, what it measures in plain words, its unit, and the number of decimals shown."""

    title: str
    description: str
    unit: str = "share"
    decimals: int = 2


# Titles and descriptions are the options of a select box whose choice is stored in links: do not change them.
STATISTICS: Mapping[str, Statistic] = {
    "effective_keys": Statistic("effective keys", "as many keys as it looks at, exp of the entropy", "keys", 1),
    "normalised_entropy": Statistic("normalised entropy", "0: one key; 1: all keys alike", ""),
    "confidence": Statistic("confidence", "largest weight of a row, <eos> left out"),
    "mean_distance": Statistic("mean distance", "how far away it looks", "tokens", 1),
    "previous": Statistic("previous token", "weight on the token before"),
    "itself": Statistic("itself", "weight on the same token"),
    "next": Statistic("next token", "weight on the token after"),
    "first": Statistic("first token", "weight on the first token: a sink"),
    "end": Statistic("end of sentence", "weight on <eos>: a sink"),
    "elsewhere": Statistic("outside sinks", "weight on all keys but the first and <eos>"),
    "punctuation": Statistic("punctuation", "weight on punctuation marks"),
    "duplicate": Statistic("duplicate token", "weight on other copies of the token (decoder: earlier ones)"),
    "rare": Statistic("rarest token", "weight on the source tokens that training saw least often"),
    "diagonal": Statistic("diagonal", "weight as far along the source as the row is along the target"),
    "mirror": Statistic("mirror", "the same, counted from the other end"),
    "aligned": Statistic("aligned", "weight on the right source token of what the row predicts"),
    "aligned_input": Statistic("aligned (just read)", "weight on the right source token of what the row has just read"),
    "accuracy": Statistic("alignment accuracy", "rows whose largest weight is on the right source token"),
    "accuracy_input": Statistic("alignment accuracy (just read)", "the same for the token that the row has just read"),
    "error_rate": Statistic("alignment error rate", "AER, mean over sentences; 0 is perfect"),
    "error_rate_input": Statistic("alignment error rate (just read)", "AER for the token that the row has just read"),
    "coverage_spread": Statistic("coverage spread", "0: all source tokens are read equally much in all", ""),
}
ROLES_FROM = (
    *("previous", "itself", "next", "punctuation", "duplicate", "rare"),
    *("diagonal", "mirror", "aligned", "aligned_input"),
)


@dataclass(frozen=True, eq=False)
class HeadScores:
    """One statistic of all heads of one kind.

    Shapes: mean and standard deviation std [layer, head]; untrained, untrained_std [layer]; uniform and uniform_std are
    single numbers. `sentences`: how many have a row to which the statistic applies. NaN: unknown.
    """

    mean: Scores
    std: Scores
    uniform: float
    uniform_std: float
    untrained: Scores
    untrained_std: Scores
    sentences: int


@dataclass(frozen=True, eq=False)
class KindScores:
    """All statistics of one kind of attention, by name.

    `similarity` [head, head], all layers in a row: see :func:`explorer.probing.similarity.divergences`.
    `sentence_scores` [sentence, layer, head]; `sentence_chance` [sentence]: the score of uniform attention there.
    `corpus`: see :mod:`explorer.probing.corpus_scores`.
    """

    kind: AttentionKind
    n_layers: int
    n_heads: int
    scores: dict[str, HeadScores]
    similarity: Scores
    sentence_scores: dict[str, Scores]
    sentence_chance: dict[str, Scores]
    corpus: dict[str, CorpusScores] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Probe:
    """A model measured on a sample: scores by kind, and the number of sentences and of untrained models."""

    kinds: dict[AttentionKind, KindScores]
    sentences: int
    seeds: int


def sentence_scores(
    observed: Observed, kind: AttentionKind, weights: NDArray[np.floating] | None = None
) -> dict[str, Scores]:
    """Every statistic that applies to one sentence.

    Shapes: weights [..., query, key], the trace's own by default; each score has the leading axes, with NaN where the
    statistic applies to no row of this sentence.
    """
    used: NDArray[np.floating] = observed.trace.weights(kind) if weights is None else weights
    seen = pattern_cells.visible(observed, kind)
    rows = pattern_cells.choosing_rows(observed, kind)
    sinks = pattern_cells.sink_keys(observed, kind)
    keys = np.ones(seen.shape[1], dtype=np.bool_)
    sure_rows = rows.copy()
    if kind != "decoder":
        keys[-1] = False
    if kind == "encoder":
        sure_rows[-1] = False
    values = {
        "effective_keys": formulas.effective_keys(used, rows),
        "normalised_entropy": formulas.normalised_entropy(used, seen, rows),
        "confidence": formulas.confidence(used, sure_rows, keys),
        "elsewhere": formulas.share(used, np.broadcast_to(~sinks, seen.shape) & seen & rows[:, None]),
    }
    if kind != "cross":
        values["mean_distance"] = formulas.mean_distance(used, rows)
    for name, cells in pattern_cells.patterns(observed, kind).items():
        values[name] = formulas.share(used, cells)
        if name in ROLES_FROM:
            values[name + WITHOUT_SINKS] = formulas.share_without(used, cells, sinks)
        if name in ("aligned", "aligned_input"):
            suffix = name.removeprefix("aligned")
            values["accuracy" + suffix] = formulas.alignment_accuracy(used, cells)
            values["error_rate" + suffix] = (
                formulas.alignment_error_rate(used, cells)
                if observed.links is None
                else formulas.word_error_rate(used, observed.links, read=bool(suffix))
            )
    if kind == "cross":
        values["coverage_spread"] = formulas.coverage_variation(used)
    return values


@dataclass
class Tally:
    """Collects the scores of one sentence after another, in any order; call `result` at the end."""

    sentences: int = 0
    seeds: int = 0
    _scores: dict[AttentionKind, dict[str, dict[int, Scores]]] = field(
        default_factory=lambda: {kind: defaultdict(dict) for kind in ATTENTION_KINDS}
    )
    _uniform: dict[AttentionKind, dict[str, dict[int, float]]] = field(
        default_factory=lambda: {kind: defaultdict(dict) for kind in ATTENTION_KINDS}
    )
    _corpus: CorpusTally = field(default_factory=CorpusTally)
    _divergences: dict[AttentionKind, list[Scores]] = field(
        default_factory=lambda: {kind: [] for kind in ATTENTION_KINDS}
    )

    def add(self, index: int, observed: Observed, weights: Weights) -> None:
        """Add one sentence, read by the model itself and by the untrained ones.

        Shapes: weights [model, layer, head, query, key] by kind, the model itself first.
        """
        self.sentences += 1
        self.seeds = len(next(iter(weights.values()))) - 1
        for kind, stacked in weights.items():
            for name, values in sentence_scores(observed, kind, stacked).items():
                self._scores[kind][name][index] = values
            even = formulas.uniform_like(pattern_cells.visible(observed, kind))
            for name, value in sentence_scores(observed, kind, even).items():
                self._uniform[kind][name][index] = float(value)
            if kind == "cross":
                self._corpus.add(observed, stacked)
            self._divergences[kind].append(divergences(stacked[0], pattern_cells.choosing_rows(observed, kind)))

    def result(self) -> Probe:
        """Means and standard deviations over all sentences added.

        Raises:
            ValueError: no sentence was added.
        """
        if not self.sentences:
            raise ValueError("there is no sentence to measure.")
        return Probe({kind: self._kind(kind) for kind in ATTENTION_KINDS}, self.sentences, self.seeds)

    def _kind(self, kind: AttentionKind) -> KindScores:
        order = sorted(self._scores[kind]["elsewhere"])
        shape = self._scores[kind]["elsewhere"][order[0]].shape  # [model, layer, head]
        blank = np.full(shape, np.nan)
        summarised, single, chances = {}, {}, {}
        for name, by_sentence in self._scores[kind].items():
            values = np.stack([by_sentence.get(i, blank) for i in order])  # [sentence, model, layer, head]
            chance = np.array([self._uniform[kind][name].get(i, np.nan) for i in order])
            summarised[name] = _head_scores(values, chance)
            single[name], chances[name] = values[:, 0], chance
        similarity = _mean(np.stack(self._divergences[kind]), 0)
        corpus = self._corpus.result() if kind == "cross" else {}
        return KindScores(kind, shape[1], shape[2], summarised, similarity, single, chances, corpus)


def _head_scores(values: Scores, chance: Scores) -> HeadScores:
    """Means and standard deviations of values [sentence, model, layer, head], with chance [sentence]."""
    own, untrained = values[:, 0], values[:, 1:]
    by_seed = _mean(untrained, 0)  # [seed, layer, head]
    pooled = np.moveaxis(by_seed, 1, 0).reshape(values.shape[2], -1)  # [layer, seed and head]
    return HeadScores(
        mean=_mean(own, 0),
        std=_std(own, 0),
        uniform=float(_mean(chance, 0)),
        uniform_std=float(_std(chance, 0)),
        untrained=_mean(pooled, 1),
        untrained_std=_std(pooled, 1),
        sentences=int(np.isfinite(own).any(axis=(1, 2)).sum()),
    )


def _mean(values: Scores, axis: int) -> Scores:
    """Mean of the finite values; NaN where there are none."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=axis)
    count = known.sum(axis=axis)
    mean: Scores = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean


def _std(values: Scores, axis: int) -> Scores:
    """Standard deviation of the finite values; NaN where there are none."""
    centred = values - np.expand_dims(_mean(values, axis), axis)
    std: Scores = np.sqrt(_mean(centred**2, axis))
    return std
