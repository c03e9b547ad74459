"""Score a model's heads over a sample; each score has an interval, two baselines and a sample size.

The score of one sentence is a mean over its rows; the score of a head is the mean over sentences, with a bootstrap
interval over sentences. The baselines are uniform attention on the same rows, and untrained models of the
same shape, over several seeds and all heads of the layer (which are equivalent before training). Both are compared
sentence by sentence, since a long sentence lowers the head's score and the baseline's alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import entropy, mean_over
from explorer.locale.messages import message
from explorer.probing import pattern_cells
from explorer.probing import pattern_shares as formulas
from explorer.probing.corpus_scores import CorpusScores, CorpusTally
from explorer.probing.pattern_cells import lexical_cells
from explorer.probing.pattern_shares import relative_map
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Observed, Weights
from model.analysis.word_alignment import error_rate, word_counts
from model.config import ATTENTION_KINDS, AttentionKind

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
    are mean differences over the same sentences, with their intervals. `untrained_std` is the standard deviation
    between untrained heads. `sentences`: the number that have a row to which the statistic applies. NaN: unknown.
    """

    estimate: Estimate
    std: Scores
    uniform: float
    uniform_std: float
    untrained: Scores
    untrained_std: Scores
    over_uniform: Estimate
    over_untrained: Estimate
    sentences: int

    @property
    def mean(self) -> Scores:
        """The mean over sentences, [layer, head]."""
        return self.estimate.value


def per_sentence(values: Scores, uniform: Scores) -> SentenceScores:
    """Split one statistic, values [sentence, model, layer, head] and uniform [sentence], into model and baselines.

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
    """Compute means, intervals and differences over the sentences for all statistics of one kind.

    They are resampled together, which is many times faster than one by one.
    """
    if not single:
        return {}
    single, parts = _with_share(single), []
    for item in single.values():
        own, uniform = item.own, item.uniform[:, None, None]
        parts.append(np.stack([own, own - uniform, own - item.untrained[..., None]], axis=1))
    estimates = bootstrap.of_mean(np.stack(parts, axis=1))  # [statistic, which, layer, head]
    return {name: _summary(item, estimates, nth) for nth, (name, item) in enumerate(single.items())}


def _with_share(single: Mapping[str, SentenceScores]) -> Mapping[str, SentenceScores]:
    """Add the effective keys divided by those of uniform attention, sentence by sentence."""
    keys = single.get("effective_keys")
    if keys is None:
        return single
    untrained = keys.untrained / keys.uniform[:, None]
    # Of each untrained head, only the mean over sentences is kept: it is scaled to the mean share of its layer.
    heads = keys.untrained_heads * (mean(untrained, 0) / mean(keys.untrained_heads, 1))[:, None]
    own = keys.own / keys.uniform[:, None, None]
    share = SentenceScores(own, np.ones_like(keys.uniform), untrained, heads)
    return {**single, "key_share": share}


def _summary(single: SentenceScores, estimates: Estimate, nth: int) -> HeadScores:
    own = single.own
    estimate, over_uniform, over_untrained = (
        Estimate(estimates.value[nth, which], estimates.low[nth, which], estimates.high[nth, which])
        for which in range(3)
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
        sentences=int(np.isfinite(own).any(axis=(1, 2)).sum()),
    )


def mean(values: Scores, axis: int) -> Scores:
    """Average the finite values; NaN where there are none."""
    finite = np.isfinite(values)
    total = np.where(finite, values, 0.0).sum(axis=axis)
    count = finite.sum(axis=axis)
    average: Scores = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return average


def std(values: Scores, axis: int) -> Scores:
    """Standard deviation of the finite values; NaN where there are none."""
    centred = values - np.expand_dims(mean(values, axis), axis)
    deviation: Scores = np.sqrt(mean(centred**2, axis))
    return deviation


Cells = NDArray[np.bool_]
WITHOUT_SINKS = formulas.WITHOUT_SINKS
Gold = Literal["words", "scenes", "tokens", ""]


@dataclass(frozen=True)
class Statistic:
    """The title of a score, what it measures in plain words, its unit, and the number of decimals shown.

    `alone`: what it measures, where the description continues that of the statistic before.
    """

    title: str
    description: str
    unit: str = message("share")
    decimals: int = 2
    alone: str = ""

    @property
    def full(self) -> str:
        """What it measures, in words that need no other statistic."""
        return self.alone or self.description


def statistic_of(name: str) -> Statistic:
    """The statistic of this name, which may leave sinks out."""
    return STATISTICS[name.removesuffix(WITHOUT_SINKS)]


KIND_WORDS = message("encoder"), message("decoder"), message("cross")
"""The kinds of attention where room is short, which :func:`translated` writes."""

# Titles and descriptions are the options of a select box whose choice is stored in links: do not change them.
STATISTICS: Mapping[str, Statistic] = {
    "effective_keys": Statistic(
        message("effective keys"), message("as many keys as it looks at, exp of the entropy"), message("keys"), 1
    ),
    "key_share": Statistic(
        message("share of keys"),
        message("effective keys divided by the keys that it could look at; 1: all of them alike"),
    ),
    "normalised_entropy": Statistic(message("normalised entropy"), message("0: one key; 1: all keys alike"), ""),
    "confidence": Statistic(message("confidence"), message("largest weight of a row, <eos> left out")),
    "mean_distance": Statistic(message("mean distance"), message("how far away it looks"), message("tokens"), 1),
    "previous": Statistic(message("previous token"), message("weight on the token before")),
    "itself": Statistic(message("itself"), message("weight on the same token")),
    "next": Statistic(message("next token"), message("weight on the token after")),
    "first": Statistic(message("first token"), message("weight on the first token: a sink")),
    "end": Statistic(message("end of sentence"), message("weight on <eos>: a sink")),
    "elsewhere": Statistic(message("outside sinks"), message("weight on all keys but the first and <eos>")),
    "punctuation": Statistic(message("punctuation"), message("weight on punctuation marks")),
    "duplicate": Statistic(
        message("duplicate token"), message("weight on other copies of the token (decoder: earlier ones)")
    ),
    "induction": Statistic(
        message("induction"), message("weight on what follows another copy of the token (decoder: an earlier one)")
    ),
    "rare": Statistic(message("rarest token"), message("weight on the source tokens that training saw least often")),
    "diagonal": Statistic(
        message("diagonal"), message("weight as far along the source as the row is along the target")
    ),
    "mirror": Statistic(
        message("mirror"),
        message("the same, counted from the other end"),
        alone=message("weight as far from the end of the source as the row is along the target"),
    ),
    "aligned": Statistic(message("aligned"), message("weight on the right source token of what the row predicts")),
    "aligned_input": Statistic(
        message("aligned (just read)"), message("weight on the right source token of what the row has just read")
    ),
    "lexical": Statistic(
        message("lexical"),
        message("weight on the word that the predicted word translates, less that on shuffled partners"),
    ),
    "lexical_input": Statistic(
        message("lexical (just read)"),
        message("the same for the word that the row has just read"),
        alone=message("weight on the word that the word just read translates, less that on shuffled partners"),
    ),
    "accuracy": Statistic(
        message("alignment accuracy"), message("rows whose largest weight is on the right source token")
    ),
    "accuracy_input": Statistic(
        message("alignment accuracy (just read)"),
        message("the same for the token that the row has just read"),
        alone=message("rows whose largest weight is on the right source token of what they have just read"),
    ),
    "error_rate": Statistic(message("alignment error rate"), message("AER, mean over sentences; 0 is perfect")),
    "error_rate_input": Statistic(
        message("alignment error rate (just read)"), message("AER for the token that the row has just read")
    ),
    "coverage_spread": Statistic(
        message("coverage spread"), message("0: all source tokens are read equally much in all"), ""
    ),
}
ROLES_FROM = (
    *("previous", "itself", "next", "punctuation", "duplicate", "induction", "rare"),
    *("diagonal", "mirror", "aligned", "aligned_input", "lexical", "lexical_input"),
)


@dataclass(frozen=True, eq=False)
class KindScores:
    """All statistics of one kind of attention, by name.

    `single`: the statistics sentence by sentence. `corpus`: see :mod:`explorer.probing.corpus_scores`.
    `relative` [layer, head, bin, bin]: see :mod:`explorer.probing.pattern_shares`.
    """

    kind: AttentionKind
    n_layers: int
    n_heads: int
    scores: dict[str, HeadScores]
    single: dict[str, SentenceScores]
    relative: Scores
    corpus: dict[str, CorpusScores] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Probe:
    """A model measured on a sample: scores by kind, and the number of sentences and of untrained models.

    `gold`: the links that the alignment error rate counts: sure and possible ones between "words", those of Headlight's
    "scenes", which a language model annotated, between "tokens", or "" if no alignment is known.
    """

    kinds: dict[AttentionKind, KindScores]
    sentences: int
    seeds: int
    gold: Gold = ""


@dataclass(frozen=True, eq=False)
class Places:
    """The properties of one sentence that do not depend on the weights: rows, keys and patterns.

    Shapes: seen [query, key]; rows [query]; sinks [key]; cells by pattern [query, key]. lexical: see
    :func:`explorer.probing.pattern_cells.lexical_cells`.
    """

    observed: Observed
    kind: AttentionKind
    seen: Cells
    rows: Cells
    sinks: Cells
    cells: dict[str, Cells]
    lexical: dict[str, tuple[Scores, Scores, Cells]]


def places_of(observed: Observed, kind: AttentionKind) -> Places:
    """Compute the rows, keys and patterns of one sentence."""
    lexical = {}
    if kind == "cross":
        lexical = {"lexical": lexical_cells(observed), "lexical_input": lexical_cells(observed, read=True)}
    return Places(
        observed,
        kind,
        pattern_cells.visible(observed, kind),
        pattern_cells.choosing_rows(observed, kind),
        pattern_cells.sink_keys(observed, kind),
        pattern_cells.patterns(observed, kind),
        {name: cells for name, cells in lexical.items() if cells is not None},
    )


def sentence_scores(
    observed: Observed,
    kind: AttentionKind,
    weights: NDArray[np.floating] | None = None,
    places: Places | None = None,
) -> dict[str, Scores]:
    """Compute every statistic that applies to one sentence.

    Shapes: weights [..., query, key], the trace's own by default; each score has the leading axes, with NaN where the
    statistic applies to no row of this sentence.
    """
    used: NDArray[np.floating] = observed.trace.weights(kind) if weights is None else weights
    places = places_of(observed, kind) if places is None else places
    seen, rows, sinks = places.seen, places.rows, places.sinks
    keys = np.ones(seen.shape[1], dtype=np.bool_)
    sure_rows = rows.copy()
    if kind != "decoder":
        keys[-1] = False
    if kind == "encoder":
        sure_rows[-1] = False
    entropies = entropy(used)
    values = {
        "effective_keys": mean_over(np.exp(entropies), rows),
        "normalised_entropy": formulas.normalised_entropy(entropies, seen, rows),
        "confidence": formulas.confidence(used, sure_rows, keys),
    }
    if kind != "cross":
        values["mean_distance"] = formulas.mean_distance(used, rows)
    shares = formulas.Shares(used, sinks)
    shares.add("elsewhere", np.broadcast_to(~sinks, seen.shape) & seen & rows[:, None])
    for name, cells in places.cells.items():
        shares.add(name, cells, without_sinks=name in ROLES_FROM)
        if name in ("aligned", "aligned_input"):
            suffix = name.removeprefix("aligned")
            values["accuracy" + suffix] = formulas.alignment_accuracy(used, cells)
            if kind != "cross":  # the rows of a prompt have no alignment, and an error rate counts all
                continue
            values["error_rate" + suffix] = (
                formulas.alignment_error_rate(used, cells)
                if observed.links is None
                else error_rate(*word_counts(used, observed.links, read=bool(suffix)))
            )
    for name, (along, against, partnered) in places.lexical.items():
        shares.add(name, along, partnered, without_sinks=True)
        shares.add(f"{name}.mirror", against, partnered, without_sinks=True)
    values |= shares.result()
    for name in places.lexical:
        for ending in ("", WITHOUT_SINKS):
            values[name + ending] = np.minimum(values[name + ending], values.pop(f"{name}.mirror{ending}"))
    if kind == "cross":
        values["coverage_spread"] = formulas.coverage_variation(used)
    return values


@dataclass
class Tally:
    """Accumulates the scores of sentences, added one by one in any order; call `result` at the end."""

    sentences: int = 0
    seeds: int = 0
    gold: Gold = ""
    # By kind and index of the sentence: its scores, and those of uniform attention.
    _scores: dict[AttentionKind, dict[int, tuple[dict[str, Scores], dict[str, Scores]]]] = field(
        default_factory=lambda: {kind: {} for kind in ATTENTION_KINDS}
    )
    _corpus: CorpusTally = field(default_factory=CorpusTally)
    _maps: dict[AttentionKind, list[Scores]] = field(default_factory=lambda: {kind: [] for kind in ATTENTION_KINDS})

    def add(self, index: int, observed: Observed, weights: Weights) -> None:
        """Add one sentence, read by the model itself and by the untrained ones.

        Shapes: weights [model, layer, head, query, key] by kind, the model itself first.
        """
        self.sentences += 1
        self.seeds = len(next(iter(weights.values()))) - 1
        if observed.links is not None:
            self.gold = "words"
        elif observed.alignment is not None and not self.gold:
            self.gold = "tokens"
        for kind, stacked in weights.items():
            places = places_of(observed, kind)
            self._scores[kind][index] = (
                sentence_scores(observed, kind, stacked, places),
                sentence_scores(observed, kind, formulas.uniform_like(places.seen), places),
            )
            if kind == "cross":
                self._corpus.add(index, observed, stacked, places.cells)
            self._maps[kind].append(relative_map(stacked[0]))

    def result(self) -> Probe:
        """Compute means, intervals and differences over all sentences added.

        Raises:
            ValueError: no sentence was added.
        """
        if not self.sentences:
            raise ValueError("there is no sentence to measure.")
        return Probe(
            {kind: self._kind(kind) for kind in ATTENTION_KINDS if self._scores[kind]},
            self.sentences,
            self.seeds,
            self.gold,
        )

    def _kind(self, kind: AttentionKind) -> KindScores:
        in_order = [scores for _, scores in sorted(self._scores[kind].items())]
        shape = in_order[0][0]["elsewhere"].shape  # [model, layer, head]
        blank = np.full(shape, np.nan)
        single = {}
        for name in dict.fromkeys(name for own, _ in in_order for name in own):
            values = np.stack([own.get(name, blank) for own, _ in in_order])  # [sentence, model, layer, head]
            chance = np.array([float(uniform.get(name, np.nan)) for _, uniform in in_order])
            single[name] = per_sentence(values, chance)
        return KindScores(
            kind,
            shape[1],
            shape[2],
            summarised(single),
            single,
            np.mean(self._maps[kind], axis=0),
            self._corpus.result() if kind == "cross" else {},
        )
