"""Patch vectors of another sentence into one sentence, to find which vector carries their difference."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name, short_layer
from explorer.decoding.translator import Translation
from explorer.locale.text import fixed, percent, plural, quoted
from explorer.probing.reporting import Report
from explorer.probing.sample import subsample
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.patching import PatchError, PatchGrid, Stack, patch_grid, patch_heads, source_effects
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, AttentionKind
from model.text.tokenizer import Encoding

Floats = NDArray[np.float64]
FLOOR = 1.0  # nats: the colour scale of patches ends no lower, so that noise stays pale
PAIRS = 30  # that are averaged, at most
_CANDIDATES = 24  # other sources that are tried for one sentence
PLACES: dict[Stack, tuple[str, ...]] = {
    "encoder": ("changed word", "other words", "<eos>"),
    "decoder": ("<sos>", "in between", "word just read"),
}


@dataclass(frozen=True, eq=False)
class Patched:
    """A grid of patches with the tokens at its positions.

    `heads` [layer, head] by kind: the log-probability of the predicted token with the output of one head from the other
    sentence, at all positions. `tokens` and `other_tokens`: the source tokens of this sentence and of the other one,
    with <eos>; `read`: the target tokens up to the row that predicts `predicted`. `instead`: the likeliest token after
    each patch, by stack.
    """

    grid: PatchGrid
    heads: dict[AttentionKind, Floats]
    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    read: tuple[str, ...]
    predicted: str
    instead: dict[Stack, list[list[str]]]

    def change(self, stack: Stack) -> Floats:
        """[point, position]: the change of the log-probability of the predicted token, in nats."""
        return self.grid.log_probs[stack] - self.grid.own

    def head_change(self, kind: AttentionKind) -> Floats:
        """[layer, head]: the change of the log-probability of the predicted token, in nats."""
        return self.heads[kind] - self.grid.own

    @property
    def top(self) -> float:
        """The end of the colour scale: the effect of the whole other source, or a larger one, at least `FLOOR`."""
        changes = [self.change(stack) for stack in self.grid.log_probs] + [
            self.head_change(kind) for kind in self.heads
        ]
        return max(FLOOR, abs(self.grid.other - self.grid.own), *(float(np.abs(change).max()) for change in changes))

    def summary(self) -> str:
        """State what the whole other source does to the prediction."""
        change = self.grid.other - self.grid.own
        return (
            f"With all of the other source, {quoted(self.predicted)} has {percent(math.exp(self.grid.other), 1)} "
            f"instead of {percent(math.exp(self.grid.own), 1)} ({fixed(change, 2, signed=True)} nats)."
        )

    def heads_summary(self) -> str:
        """Name the head whose output from the other sentence changes the prediction most, and compare it with all."""
        changes = {
            (kind, layer, head): float(self.head_change(kind)[layer, head])
            for kind, values in self.heads.items()
            for layer, head in np.ndindex(values.shape)
        }
        kind, layer, head = max(changes, key=lambda place: abs(changes[place]))
        largest, whole = changes[kind, layer, head], self.grid.other - self.grid.own
        return (
            f"Of single heads, {kind} {index_name(layer, head)} changes the prediction most, by "
            f"{fixed(largest, 2, signed=True)} nats of {fixed(whole, 2, signed=True)}."
        )

    def columns(self, stack: Stack) -> tuple[str, ...]:
        """Labels of the positions; in the source, both tokens where they differ."""
        if stack == "decoder":
            return self.read
        pairs = zip(self.tokens, self.other_tokens, strict=True)
        return tuple(own if own == other else f"{own} ← {other}" for own, other in pairs)

    def caption(self, stack: Stack) -> str:
        """Describe the effect of the patch with the largest effect."""
        change = self.change(stack)
        point, position = (int(i) for i in np.unravel_index(int(np.abs(change).argmax()), change.shape))
        patched = math.exp(self.grid.own + change[point, position])
        where = "embedding" if point == 0 else f"output of {short_layer(point)}"
        instead = self.instead[stack][point][position]
        outcome = f"{quoted(instead)} becomes likeliest" if instead != self.predicted else "it stays the likeliest"
        return (
            f"{stack.capitalize()}: the largest effect of a single vector is at {position + 1} "
            f"{quoted(self.columns(stack)[position])}, {where}: {percent(patched, 1)} "
            f"({fixed(float(change[point, position]), 2, signed=True)} nats); {outcome}."
        )


def point_names(n_points: int) -> list[str]:
    """Names of the rows of a grid: "embedding", "L1", …"""
    return ["embedding", *(short_layer(layer) for layer in range(1, n_points))]


def patched(loaded: LoadedModel, translation: Translation, other_text: str, row: int) -> Patched:
    """Patch another source into a translation, vector by vector, and record the prediction of one row (from 0).

    Raises:
        PatchError: the sentences cannot be patched into each other.
    """
    other, label = loaded.source.encode(other_text), loaded.target.label
    sources, read = ((*translation.source.ids, EOS), (*other.ids, EOS)), (SOS, *translation.path[:row])
    grid = patch_grid(loaded.transformer, *sources, read, token=translation.path[row])
    return Patched(
        grid,
        patch_heads(loaded.transformer, *sources, read, token=translation.path[row]),
        tuple(translation.trace.src_tokens),
        (*other.tokens, label(EOS)),
        tuple(translation.trace.read_tokens[: row + 1]),
        translation.trace.predicted_tokens[row],
        {stack: [[label(token) for token in line] for line in ids.tolist()] for stack, ids in grid.likeliest.items()},
    )


def row_changes(loaded: LoadedModel, translation: Translation, other_text: str) -> Floats:
    """[row]: how another source changes the log-probability of each token of a translation, in nats.

    Raises:
        PatchError: the sentences differ in length.
    """
    other = loaded.source.encode(other_text)
    effects = source_effects(loaded.transformer, (*translation.source.ids, EOS), [(*other.ids, EOS)], translation.path)
    changes: Floats = effects.others[0] - effects.own
    return changes


Words = Mapping[tuple[int, int], Sequence[int]]  # between two tokens; `EOS` on the right stands for any token


def words_between(sample: Sample, loaded: LoadedModel) -> Words:
    """By the tokens on both sides (`SOS` and `EOS` at the ends): whole-word tokens seen there, the commonest first."""
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for source in sample.sources:
        for place in _whole_words(source, loaded):
            before, after = _neighbours(source.ids, place)
            for key in {(before, after), (before, EOS)}:
                counts[key][source.ids[place]] += 1
    return {key: [word for word, _ in seen.most_common()] for key, seen in counts.items()}


def _neighbours(ids: Sequence[int], place: int) -> tuple[int, int]:
    return ids[place - 1] if place else SOS, ids[place + 1] if place + 1 < len(ids) else EOS


def _whole_words(source: Encoding, loaded: LoadedModel) -> list[int]:
    """The places of tokens that are words by themselves; of letters, all places."""
    if loaded.data_config.tokenizer == "characters":
        return list(range(len(source.ids)))
    words = Counter(source.words)
    return [place for place, word in enumerate(source.words) if words[word] == 1]


@dataclass(frozen=True)
class Pair:
    """Two sentences that differ in one token: the other text, and the place and the row (from 0) to watch."""

    other: str
    place: int
    row: int


def changing_pair(loaded: LoadedModel, source: Encoding, path: Sequence[int], words: Words) -> Pair | None:
    """Find a sentence that differs in one word and changes the answer; None if none of those tried does.

    The other word stands between the same words somewhere in the sample or, failing that, after the same word. Of the
    sentences with which another token becomes the likeliest, the one that changes the fewest rows is taken: its effect
    is the easiest to follow.
    """
    if not path:
        return None
    for near in (True, False):
        tried = _others(loaded, source, words, near=near)
        if not tried:
            continue
        effects = source_effects(
            loaded.transformer, (*source.ids, EOS), [(*other.ids, EOS) for _, other in tried], path
        )
        changing = [int(i) for i in np.flatnonzero(effects.changes.any(axis=1))]
        if changing:
            size = np.abs(effects.others - effects.own).max(axis=1)
            best = min(changing, key=lambda i: (effects.changes[i].sum(), -size[i]))
            place, other = tried[best]
            return Pair(other.text, place, effects.row(best))
    return None


def _others(loaded: LoadedModel, source: Encoding, words: Words, *, near: bool) -> list[tuple[int, Encoding]]:
    """Sentences with another word at one place, and the place: the commonest words of every place first."""
    choices = []
    for place in _whole_words(source, loaded):
        before, after = _neighbours(source.ids, place)
        seen = words.get((before, after if near else EOS), ())
        choices.append((place, [word for word in seen if word != source.ids[place]]))
    found: list[tuple[int, Encoding]] = []
    for nth in range(max((len(seen) for _, seen in choices), default=0)):
        for place, seen in choices:
            if nth < len(seen) and len(found) < _CANDIDATES:
                ids = (*source.ids[:place], seen[nth], *source.ids[place + 1 :])
                other = loaded.source.encode(loaded.source.decode(ids))
                if other.ids == ids:
                    found.append((place, other))
    return found


@dataclass(frozen=True, eq=False)
class PatchMeans:
    """Patches averaged over pairs, in nats with intervals over the pairs.

    Shapes: whole []: the effect of the whole other source; vectors by stack, [point, place], with the places of
    `PLACES`; heads by kind, [layer, head]. `pairs`: a table row for each pair.
    """

    whole: Estimate
    vectors: dict[Stack, Estimate]
    heads: dict[AttentionKind, Estimate]
    pairs: list[dict[str, Any]]

    @property
    def top(self) -> float:
        """The end of the colour scale, at least `FLOOR`."""
        return max(FLOOR, abs(float(self.whole.value)))

    def summary(self) -> str:
        """State the effect of the whole other source, which the single patches are compared with."""
        value, low, high = (fixed(x, 2, signed=True) for x in self.whole.at())
        return (
            f"Over {plural(len(self.pairs), 'pair')}, chosen because one word changes the answer: with all of the "
            f"other source, the log-probability of the watched token changes by {value} nats (95 % interval over the "
            f"pairs: {low} to {high})."
        )

    def rows(self) -> list[dict[str, Any]]:
        """A table row for each vector and each head, with its interval."""
        rows = []
        for stack, item in self.vectors.items():
            for (point, nth), _ in np.ndenumerate(item.value):
                what = f"{stack} {point_names(len(item.value))[point]}, {PLACES[stack][nth]}"
                rows.append(_mean_row(what, item, point, nth))
        for kind, item in self.heads.items():
            rows += [_mean_row(f"{kind} L{i + 1} H{j + 1}", item, i, j) for i, j in np.ndindex(item.value.shape)]
        return rows


def _mean_row(what: str, item: Estimate, *place: int) -> dict[str, Any]:
    value, low, high = (round(x, 3) if math.isfinite(x) else None for x in item.at(*place))
    return {"patched": what, "change (nats)": value, "low": low, "high": high}


def mean_patches(loaded: LoadedModel, sample: Sample, report: Report) -> PatchMeans:
    """Patch many pairs of sentences that differ in one word, and average the effects.

    Raises:
        PatchError: too few sentences have a word whose replacement changes the answer.
    """
    words, part, label = words_between(sample, loaded), subsample(sample, 2 * PAIRS), "Patching pairs of sentences"
    vectors: dict[Stack, list[Floats]] = defaultdict(list)
    heads: dict[AttentionKind, list[Floats]] = defaultdict(list)
    wholes: list[float] = []
    rows: list[dict[str, Any]] = []
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"{label}: {len(rows)} of {PAIRS}")
        path = (*target, EOS)
        pair = changing_pair(loaded, source, path, words)
        if pair is None or len(rows) == PAIRS:
            continue
        ids, read = loaded.source.encode(pair.other).ids, (SOS, *path[: pair.row])
        sources = (*source.ids, EOS), (*ids, EOS)
        grid = patch_grid(loaded.transformer, *sources, read, token=path[pair.row])
        for stack, log_probs in grid.log_probs.items():
            vectors[stack].append(_by_place(log_probs - grid.own, stack, pair.place))
        for kind, values in patch_heads(loaded.transformer, *sources, read, token=path[pair.row]).items():
            heads[kind].append(values - grid.own)
        wholes.append(grid.other - grid.own)
        watched = loaded.target.label(path[pair.row])
        changed = {"sentence": source.text, "other sentence": pair.other, "row": pair.row + 1, "watched": watched}
        rows.append(changed | {"change (nats)": round(wholes[-1], 2)})
    if len(rows) < 5:
        raise PatchError(
            "Fewer than five sentences of the sample have a word whose replacement changes the answer: there is "
            "nothing to average."
        )
    return PatchMeans(
        bootstrap.of_mean(np.array(wholes)),
        {stack: bootstrap.of_mean(np.stack(values)) for stack, values in vectors.items()},
        {kind: bootstrap.of_mean(np.stack(values)) for kind, values in heads.items()},
        rows,
    )


def _by_place(change: Floats, stack: Stack, place: int) -> Floats:
    """[point, position] -> [point, place of `PLACES`]: means over the positions of each place, NaN without any."""
    n = change.shape[1]
    at = np.arange(n)
    last = n - 1
    groups = [at == place, (at != place) & (at != last), at == last]
    if stack == "decoder":
        groups = [(at == 0) & (at != last), (at > 0) & (at < last), at == last]
    return np.stack(
        [change[:, group].mean(axis=1) if group.any() else np.full(len(change), np.nan) for group in groups], 1
    )
