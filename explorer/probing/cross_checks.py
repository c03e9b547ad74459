"""Cross-check attention on one sentence and over a sample: other rows and zeroed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.aggregates import shares as row_shares
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.labelled_map import SHARE, LabelledMap, PairMarks, labelled
from explorer.decoding.names import short_layer
from explorer.decoding.translator import Translation
from explorer.locale.messages import later, message, t, translated
from explorer.locale.text import fixed, percent, quoted
from explorer.probing.edit_effect import with_interval
from explorer.probing.reporting import Report
from explorer.probing.sample import read_pairs, subsample
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.cross_checks import (
    COUNTERFACTUALS,
    Counterfactual,
    LayerMaps,
    counterfactual_rows,
    layer_maps,
    value_zeroing,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, AttentionKind
from model.scoring import evenly_spaced
from model.trace import VISIBLE

SENTENCES = 50  # of the sample, unless all are asked for
_FAIR = 0.75  # the share of rows from which weights are a fair picture,
_FEW_ROWS = 4  # of no fewer rows than these
_FEW_DIFFER = 3  # rows that are named
CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM")  # coarse tags of content words
FUNCTION = ("DET", "ADP", "PRON", "AUX", "CCONJ", "SCONJ", "PART")
PAIRS = (("weights", "zeroed"), ("norms", "zeroed"), ("weights", "norms"))
TITLES = {"weights": message("weights"), "norms": message("norms"), "zeroed": message("values set to zero")}

ALL = message("all")
WORDS_OF = {  # the classes of words
    "function": message("function words"),
    "content": message("content words"),
    "punctuation": message("punctuation"),
}
ROWS = message("uniform"), message("shuffled"), message("largest removed")  # COUNTERFACTUALS, for translators
signed = partial(fixed, decimals=2, signed=True)

Floats = NDArray[np.float64]
Layer = tuple[AttentionKind, int]
Classes = Sequence[Sequence[str]] | None  # a part of speech, "function" or "content" by [sentence][target token]


def sentence_maps(
    loaded: LoadedModel, translation: Translation, kind: AttentionKind, layer: int, norms: NDArray[np.float32]
) -> tuple[list[str], tuple[tuple[LabelledMap, str], ...]]:
    """Three maps of a layer (from 0), each with a sentence: weights, weighted norms, zeroed values; a conclusion first.

    The conclusion is followed by a sentence on each row whose largest key differs, if they are few.

    `norms` [query, key] are those of all heads of the layer together.
    """
    maps = attention_maps(translation.trace, kind)
    weights, norm_shares = maps.weights[layer].mean(axis=0), row_shares(norms)
    zeroed = value_zeroing(loaded.transformer, *_read(translation), kind, layer).astype(np.float32)
    choice = (maps.mask == VISIBLE).sum(axis=1) > 1  # a row that sees one key has none
    shown = labelled(maps, weights, t("Weights"))
    by_norms = t(
        "‖Σ α f(x)‖ of all heads (Kobayashi et al. 2020): {agreement}.",
        agreement=agreement(weights[choice], norm_shares[choice]),
    )
    by_zeroing = t(
        "Change of the layer's output without a key's value (Mohebbi et al. 2023): {agreement}.",
        agreement=agreement(weights[choice], zeroed[choice]),
    )
    by_weight, *_, by_zeroed = largest = [values.argmax(axis=1) for values in (weights, norm_shares, zeroed)]
    rows = np.flatnonzero(choice & (np.ptp(largest, axis=0) > 0)).tolist()
    of_layer = t("Mean over the heads of the layer.")
    if rows:
        of_layer += " " + t("Framed: the largest key of each row that has another one in another map.")
    chance = float((1 / (maps.mask == VISIBLE).sum(axis=1)[choice]).sum())
    concluded = [conclusion(int((by_weight == by_zeroed)[choice].sum()), int(choice.sum()), chance)]
    for row in rows if len(rows) <= _FEW_DIFFER else ():
        keys = [quoted(shown.column_labels[key]) for key in (each[row] for each in largest)]
        concluded.append(
            t(
                "Row {row}: weights at {weights}, norms at {norms}, values set to zero at {zeroed}.",
                row=quoted(shown.row_labels[row]),
                weights=keys[0],
                norms=keys[1],
                zeroed=keys[2],
            )
        )
    found = (
        (shown, of_layer),
        (labelled(maps, norm_shares, t("Weighted by norms"), unit=SHARE), by_norms),
        (labelled(maps, zeroed, t("Values set to zero"), unit=SHARE), by_zeroing),
    )
    return concluded, tuple((_framed(item, rows), said) for item, said in found)


def _framed(item: LabelledMap, rows: Sequence[int]) -> LabelledMap:
    """The map with the largest cell of each of these rows framed."""
    cells = tuple((int(row), int(item.values[row].argmax())) for row in rows)
    return replace(item, marks=PairMarks(cells=cells))


def conclusion(same: int, rows: int, chance: float) -> str:
    """State whether the weights show which key rows rest on, by the rows whose largest weight is missed most."""
    n_rows, by_chance = t("{n} row", "{n:,} rows", n=rows), fixed(chance, 1)
    if rows >= _FEW_ROWS and same >= _FAIR * rows:
        return t(
            "Here the weights are a fair picture: in {same} of {rows}, the key with the largest weight is the one "
            "whose value is missed most (by chance in {chance}).",
            same=same,
            rows=n_rows,
            chance=by_chance,
        )
    if rows >= _FEW_ROWS and same <= rows / 2:
        return t(
            "Here the weights are no fair picture: only in {same} of {rows} is the key with the largest weight the one "
            "whose value is missed most (by chance in {chance}).",
            same=same,
            rows=n_rows,
            chance=by_chance,
        )
    return t(
        "In {same} of {rows}, the key with the largest weight is the one whose value is missed most (by chance in "
        "{chance}).",
        same=same,
        rows=n_rows,
        chance=by_chance,
    )


def agreement(map_a: NDArray[np.floating], map_b: NDArray[np.floating]) -> str:
    """State in how many rows two maps [query, key] have their largest value at the same key; rows have a choice."""
    same = int((map_a.argmax(axis=1) == map_b.argmax(axis=1)).sum())
    varied = [(a, b) for a, b in zip(map_a, map_b, strict=True) if len(a) > 1 and a.std() > 0 and b.std() > 0]
    rows = [float(np.corrcoef(a, b)[0, 1]) for a, b in varied]
    n_rows = t("{n} row", "{n:,} rows", n=len(map_a))
    if not rows:
        return t("the largest key is the same in {same} of {rows}", same=same, rows=n_rows)
    return t(
        "the largest key is the same in {same} of {rows}; mean correlation of a row {correlation}",
        same=same,
        rows=n_rows,
        correlation=fixed(float(np.mean(rows)), 2, signed=True),
    )


def _read(translation: Translation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The source ids with <eos> and the target ids after <sos> of a translation."""
    return (*translation.source.ids, EOS), (SOS, *translation.path[translation.n_prompt : -1])


@dataclass(frozen=True, eq=False)
class KeptShares:
    """How often the predicted token stays the same under each counterfactual row, with intervals over sentences.

    `change`: by how much the log-probability of the tokens that stay changes, in nats, with intervals;
    `change_of_all`: that of all tokens. `by_tag` gives the number of tokens and the same shares by part of speech of
    the predicted word, or by word class; it is empty if neither is known.
    """

    shares: dict[Counterfactual, Estimate]
    change: dict[Counterfactual, Estimate]
    change_of_all: dict[Counterfactual, Estimate]
    by_tag: dict[str, tuple[int, dict[Counterfactual, Estimate]]]
    sentences: int
    tokens: int

    def verdict(self) -> str:
        """State how many tokens stay the likeliest with each counterfactual row in place of their own."""
        stay = {name: with_interval(item, percent) for name, item in self.shares.items()}
        return t(
            "Of {tokens}, this share stays the likeliest with another row: uniform {uniform}, shuffled {shuffled}, "
            "largest removed {removed}.",
            tokens=t("{n} predicted token", "{n:,} predicted tokens", n=self.tokens),
            uniform=stay["uniform"],
            shuffled=stay["shuffled"],
            removed=stay["largest removed"],
        )

    def caption(self) -> str:
        """State how the log-probability of the tokens changes, and of those that stay; the shares are in the table."""
        said = [
            t(
                "Mean change of the log-probability of the predicted tokens, in nats: {changes}.",
                changes=_changes(self.change_of_all),
            )
        ]
        if stays := _changes(self.change):
            said.append(t("Of those that stay the likeliest: {changes}.", changes=stays))
        if any(bool(item.high < 0) for item in self.change.values()):
            said.append(t("A token that stays may depend on the row all the same."))
        sentences = t("{n} sentence", "{n:,} sentences", n=self.sentences)
        return " ".join([*said, t("In brackets: 95 % intervals over {sentences}.", sentences=sentences)])

    def rows(self) -> list[dict[str, Any]]:
        """One table row for all words, then one per class, then one per part of speech."""
        tags = sorted(self.by_tag.items(), key=lambda item: (item[0] not in WORDS_OF, -item[1][0]))
        return [
            {t("predicted token"): translated(WORDS_OF.get(tag, tag)), t("tokens"): count}
            | {
                t("stay likeliest: {change}", change=translated(name)): with_interval(shares[name], percent)
                for name in COUNTERFACTUALS
            }
            for tag, (count, shares) in [(ALL, (self.tokens, self.shares)), *tags]
        ]


def kept_shares(
    loaded: LoadedModel, sample: Sample, classes: Classes, report: Report, most: int = SENTENCES, *, seed: int = 0
) -> KeptShares:
    """Count over `most` sentences how often each predicted token stays the likeliest (<eos> does not count).

    `seed`: that of the orders of shuffled weights.
    """
    part = subsample(sample, most)
    part_classes = classes and [classes[i] for i in evenly_spaced(len(sample), most)]
    changes = np.zeros((2, len(part), len(COUNTERFACTUALS)))  # sums over all tokens, and over those that stay
    counted: dict[str, Floats] = defaultdict(lambda: np.zeros((len(part), 1 + len(COUNTERFACTUALS))))
    for nth, (src, read) in enumerate(read_pairs(part, report, later("Replacing rows"))):
        counterfactuals = counterfactual_rows(loaded.transformer, src, read, seed=seed)
        stays = np.stack([counterfactuals.stays[name] for name in COUNTERFACTUALS], axis=1)[
            : len(read) - 1
        ]  # [tgt, kind]
        change = np.stack([counterfactuals.change[name] for name in COUNTERFACTUALS], axis=1)[: len(stays)]
        changes[:, nth] = change.sum(axis=0), (change * stays).sum(axis=0)
        line = np.concatenate([np.ones((len(stays), 1)), stays], axis=1)
        counted[ALL][nth] = line.sum(axis=0)
        for tag, row in zip(part_classes[nth] if part_classes else (), line, strict=False):
            word_class = "content" if tag in CONTENT else "function" if tag in FUNCTION else tag
            groups = {"punctuation" if tag == "PUNCT" else word_class, tag} - {""}
            for name in groups:
                counted[name][nth] += row
    by_tag = {
        name: (
            int(sums[:, 0].sum()),
            {row: bootstrap.of_ratio(sums[:, 1 + i], sums[:, 0]) for i, row in enumerate(COUNTERFACTUALS)},
        )
        for name, sums in counted.items()
    }
    of_all = {row: bootstrap.of_ratio(changes[0, :, i], counted[ALL][:, 0]) for i, row in enumerate(COUNTERFACTUALS)}
    of_stays = {
        row: bootstrap.of_ratio(changes[1, :, i], counted[ALL][:, 1 + i]) for i, row in enumerate(COUNTERFACTUALS)
    }
    tokens, shares = by_tag.pop(ALL, (0, {}))
    return KeptShares(shares, of_stays, of_all, by_tag, len(part), tokens)


def _changes(items: dict[Counterfactual, Estimate]) -> str:
    """List the changes of the log-probability that are known."""
    known = {name: item for name, item in items.items() if np.isfinite(item.value)}
    return ", ".join(f"{translated(name)} {with_interval(item, signed)}" for name, item in known.items())


@dataclass(frozen=True, eq=False)
class MapAgreement:
    """The share of rows in which two maps of a layer have their largest value at the same key, with intervals.

    `same` by kind and layer (from 0), then by pair of maps; `chance` by kind and layer: the expectation of a guess.
    Rows that see only one key, and rows that no zeroed value changes, do not count.
    """

    same: dict[Layer, dict[tuple[str, str], Estimate]]
    chance: dict[Layer, float]
    sentences: int

    def rows(self) -> list[dict[str, Any]]:
        """One table row per layer of each kind."""
        lines = []
        for (kind, layer), shares in self.same.items():
            line: dict[str, Any] = {t("kind"): translated(kind), t("layer"): short_layer(layer + 1)}
            for pair in PAIRS:
                line[" = ".join(translated(TITLES[name]) for name in pair)] = with_interval(shares[pair], percent)
            lines.append(line | {t("by chance"): percent(self.chance[kind, layer])})
        return lines

    def caption(self) -> str:
        """State in which layer weights best name the key whose value matters most, and in which worst."""
        by_weights, by_norms, _ = PAIRS
        comparable = {
            at: shares[by_weights] for at, shares in self.same.items() if np.isfinite(shares[by_weights].value)
        }
        if not comparable:
            return t("No row of the sample depends on a single key: there is nothing to compare.")
        order = sorted(comparable, key=lambda at: float(comparable[at].value))
        (least, lowest), (most, highest) = (
            (
                t("{kind} {layer}", kind=translated(at[0]), layer=short_layer(at[1] + 1)),
                with_interval(comparable[at], percent),
            )
            for at in (order[0], order[-1])
        )
        closer = sum(bool(shares[by_norms].low > shares[by_weights].high) for shares in self.same.values())
        return t(
            "Over {sentences}: the key with the largest weight is the one whose value is missed most in {highest} of "
            "the rows of {most}, but only in {lowest} of {least}. Norms name that key clearly more often than weights "
            "in {closer} of {layers}; the values enter norms and zeroed values alike, so the two are no independent "
            "evidence. In brackets: 95 % intervals over sentences.",
            sentences=t("{n} sentence", "{n:,} sentences", n=self.sentences),
            highest=highest,
            most=most,
            lowest=lowest,
            least=least,
            closer=closer,
            layers=t("{n} layer", "{n:,} layers", n=len(comparable)),
        )


def map_agreement(loaded: LoadedModel, sample: Sample, report: Report, most: int = SENTENCES) -> MapAgreement:
    """Compare the three maps of every layer over `most` sentences of the sample."""
    part = subsample(sample, most)
    sums: dict[Layer, list[Floats]] = defaultdict(list)
    for src, read in read_pairs(part, report, later("Setting values to zero")):
        for at, maps in layer_maps(loaded.transformer, src, read).items():
            sums[at].append(_counts(maps))
    by_layer = {at: np.stack(lines) for at, lines in sums.items()}  # [sentence, rows, chance and pairs]
    return MapAgreement(
        {
            at: {pair: bootstrap.of_ratio(lines[:, 2 + i], lines[:, 0]) for i, pair in enumerate(PAIRS)}
            for at, lines in by_layer.items()
        },
        {at: float(lines[:, 1].sum() / max(lines[:, 0].sum(), 1)) for at, lines in by_layer.items()},
        len(part),
    )


def _counts(maps: LayerMaps) -> Floats:
    """The number of rows that count, the expected hits of a guess, and by pair the rows in which both maps agree."""
    seen = (maps.weights > 0).sum(axis=1)
    rows = (seen > 1) & (maps.zeroed.sum(axis=1) > 0)
    largest = {name: getattr(maps, name).argmax(axis=1) for name in TITLES}
    same = [float((largest[a] == largest[b])[rows].sum()) for a, b in PAIRS]
    return np.array([rows.sum(), (1 / np.maximum(seen, 1))[rows].sum(), *same])
