"""Patch vectors of another sentence into one sentence, to find which vector carries their difference.

One pair of sentences is shown vector by vector. Over many pairs, the effects of vectors and of heads are averaged.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name, short_layer
from explorer.decoding.translator import Translation
from explorer.locale.messages import later, message, t, translated
from explorer.locale.text import capitalised, fixed, listed, percent, quoted, rounded, two_digits
from explorer.probing.edit_effect import with_interval
from explorer.probing.minimal_pairs import others_of
from explorer.probing.reporting import Report, unheard
from explorer.probing.sample import read_pairs, subsample
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate, widened
from model.analysis.patching import (
    PatchError,
    PatchGrid,
    Stack,
    changed_rows,
    patch_effects,
    patch_grid,
    patch_heads,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, AttentionKind

Floats = NDArray[np.float64]

FLOOR = 1.0  # nats: the colour scale of patches ends no lower
SMALLEST = 0.005  # nats: what a cell shows as 0.0 is no effect
NEAR = 0.95  # share of the largest effect from which another is called nearly alike
LEAST_EFFECT = 0.05  # by which a head must exceed the others of its kind to be named
PAIRS = 50  # over which effects are averaged, at most


@dataclass(frozen=True, eq=False)
class Patched:
    """A grid of patches with the tokens at its positions.

    `heads` [layer, head] by kind: the log-probability of the predicted token with the output of one head from the other
    sentence, at all positions. `columns`: the labels of the positions by stack, up to the row that predicts
    `predicted`; both tokens where the sentences differ, at the `places`. `instead`: the likeliest token after each
    patch, by stack.
    """

    grid: PatchGrid
    heads: dict[AttentionKind, Floats]
    columns: dict[Stack, tuple[str, ...]]
    predicted: str
    instead: dict[Stack, list[list[str]]]
    places: tuple[int, ...] = ()

    def change(self, stack: Stack) -> Floats:
        """[point, position]: the change of the log-probability of the predicted token, in nats."""
        return self.grid.log_probs[stack] - self.grid.own

    def head_change(self, kind: AttentionKind) -> Floats:
        """[layer, head]: the change of the log-probability of the predicted token, in nats."""
        return self.heads[kind] - self.grid.own

    @property
    def top(self) -> float:
        """The end of the colour scale of vectors: the largest effect, at least `FLOOR`, so that noise stays pale."""
        changes = [float(np.abs(self.change(stack)).max()) for stack in self.grid.log_probs]
        return max(FLOOR, abs(self.grid.other - self.grid.own), *changes)

    @property
    def top_head(self) -> float:
        """The end of the colour scale of the heads: the largest effect of one."""
        return max(float(np.abs(self.head_change(kind)).max()) for kind in self.heads)

    @property
    def heads_matter(self) -> bool:
        """Whether a single head has an effect that is worth a map."""
        return self.top_head >= max(SMALLEST, LEAST_EFFECT * abs(self.grid.other - self.grid.own))

    def _given(self, stack: Stack) -> dict[tuple[int, int], str]:
        """The vectors of a stack that carry the whole difference by construction, [point, position], in words."""
        n_points, n_positions = self.grid.log_probs[stack].shape
        given = {}
        if len(self.places) == 1 and (stack == "encoder" or len(self.columns) == 1):
            given[0, self.places[0]] = t("the embedding of the replaced token")
        if stack == "decoder":
            given[n_points - 1, n_positions - 1] = t("the output from which the prediction is computed")
        return given

    def summary(self) -> str:
        """State what the whole other sentence does to the prediction."""
        change = self.grid.other - self.grid.own
        return t(
            "With all of the other sentence, {token} has {other} instead of {own} ({change} nats).",
            token=quoted(self.predicted),
            other=_probability(self.grid.other),
            own=_probability(self.grid.own),
            change=fixed(change, 2, signed=True),
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
        if abs(largest) < SMALLEST:
            return t("No single head changes the prediction.")
        return t(
            "Of single heads, {kind} {head} changes the prediction most, by {change} nats of {whole}.",
            kind=translated(kind),
            head=index_name(layer, head),
            change=fixed(largest, 2, signed=True),
            whole=fixed(whole, 2, signed=True),
        )

    def caption(self, stack: Stack) -> str:
        """Describe the patch with the largest effect, of those whose effect is not given by construction."""
        change, side, given = self.change(stack), capitalised(translated(stack)), self._given(stack)
        apart = ""
        if given:
            apart = t(
                "Not counted, since the whole difference is there by construction: {vectors}.",
                vectors=listed(given.values()),
            )
        for cell in given:
            change[cell] = 0.0
        if float(np.abs(change).max()) < SMALLEST:
            none = t(
                "{stack}: no single vector changes the log-probability of {token}.",
                stack=side,
                token=quoted(self.predicted),
            )
            return f"{none} {apart}".strip()
        point, position = (int(i) for i in np.unravel_index(int(np.abs(change).argmax()), change.shape))
        where = t("embedding") if point == 0 else t("output of {layer}", layer=short_layer(point))
        near = np.abs(change[:, position]) >= NEAR * abs(change[point, position])
        if near.sum() > 1:
            alike = [name for name, is_near in zip(point_names(len(change)), near, strict=True) if is_near]
            where = t("nearly alike in {points}", points=listed(alike))
        instead = self.instead[stack][point][position]
        outcome = (
            t("{token} becomes likeliest", token=quoted(instead))
            if instead != self.predicted
            else t("it stays the likeliest")
        )
        largest = t(
            "{stack}: the largest effect of a single vector is at {position} {token}, {where}: {probability} ({change} "
            "nats); {outcome}.",
            stack=side,
            position=position + 1,
            token=quoted(self.columns[stack][position]),
            where=where,
            probability=_probability(self.grid.own + change[point, position]),
            change=fixed(float(change[point, position]), 2, signed=True),
            outcome=outcome,
        )
        return f"{largest} {apart}".strip()


def _probability(log: float) -> str:
    """A probability by its logarithm, in percent; two digits of a small one."""
    return percent(math.exp(log), 1) if log > math.log(0.01) else f"{two_digits(100 * math.exp(log))} %"


def point_names(n_points: int) -> list[str]:
    """Names of the rows of a grid: "embedding", "L1", …"""
    return [t("embedding"), *(short_layer(layer) for layer in range(1, n_points))]


def patched(loaded: LoadedModel, translation: Translation, other_text: str, row: int) -> Patched:
    """Patch another source into a translation, vector by vector, and record the prediction of one row.

    Rows count from 0 and after the prompt of a decoder alone.

    Raises:
        PatchError: the sentences cannot be patched into each other.
    """
    other, label = loaded.source.encode(other_text), loaded.target.label
    own, first, trace = translation.source, translation.n_prompt, translation.trace
    path = translation.path[first:]
    sources, read, token = ((*own.ids, EOS), (*other.ids, EOS)), (SOS, *path[:row]), path[row]
    grid = patch_grid(loaded.transformer, *sources, read, token=token)
    heads = patch_heads(loaded.transformer, *sources, read, [token])
    seen = tuple(trace.read_tokens[: first + row + 1])
    both = tuple(a if a == b else f"{a} ← {b}" for a, b in zip(own.tokens, other.tokens, strict=True))
    columns: dict[Stack, tuple[str, ...]] = (
        {"encoder": (*both, label(EOS)), "decoder": seen}
        if loaded.model_config.has_encoder
        else {"decoder": (*both, *seen[len(both) :])}
    )
    return Patched(
        grid,
        {kind: values[..., 0] for kind, values in heads.items()},
        columns,
        trace.predicted_tokens[first + row],
        {stack: [[label(token) for token in line] for line in ids.tolist()] for stack, ids in grid.likeliest.items()},
        tuple(place for place, (a, b) in enumerate(zip(*sources, strict=True)) if a != b),
    )


def row_changes(loaded: LoadedModel, translation: Translation, other_text: str) -> Floats:
    """[row]: how another source changes the log-probability of each token of a translation after the prompt, in nats.

    Raises:
        PatchError: the sentences differ in length.
    """
    src, other = (*translation.source.ids, EOS), (*loaded.source.encode(other_text).ids, EOS)
    path = translation.path[translation.n_prompt :]
    changes: Floats = -changed_rows(loaded.transformer, src, [other], (SOS, *path[:-1]), path).fall[0]
    return changes


@dataclass(frozen=True)
class ChangedPair:
    """A source and another one that differs in one token, up to the row whose prediction changes most.

    `src` and `other`: ids with <eos>; `place`: where they differ; `read`: target ids up to the row; `token` and
    `instead`: the likeliest after it with each source.
    """

    src: tuple[int, ...]
    other: tuple[int, ...]
    place: int
    read: tuple[int, ...]
    token: int
    instead: int


def changed_pairs(loaded: LoadedModel, sample: Sample, report: Report = unheard) -> list[ChangedPair]:
    """Change one token in each of at most `PAIRS` sentences, such that the answer changes; others are left out.

    The change is the first of a random order that does, not the one with the largest effect.
    """
    generator, pairs = random.Random(0), []
    for src, read in read_pairs(subsample(sample, PAIRS), report, later("Changing one word")):
        others = others_of(loaded, src[:-1])
        generator.shuffle(others)
        pair = pair_of(loaded, src, [(*other, EOS) for other in others], read)
        pairs += [pair] if pair is not None else []
    return pairs


def pair_of(
    loaded: LoadedModel, src: tuple[int, ...], others: Sequence[tuple[int, ...]], read: tuple[int, ...]
) -> ChangedPair | None:
    """The first of other sources (ids with <eos>) that changes the answer, at the row that falls most; None if none."""
    if not others:
        return None
    rows = changed_rows(loaded.transformer, src, others, read)
    falls = np.where(rows.answer_changes, rows.fall, -np.inf)
    changing = np.flatnonzero(np.isfinite(falls.max(axis=1)))
    if not len(changing):
        return None
    nth = int(changing[0])
    row = int(falls[nth].argmax())
    place = next(i for i, (own, other) in enumerate(zip(src, others[nth], strict=True)) if own != other)
    return ChangedPair(src, others[nth], place, read[: row + 1], int(rows.token[row]), int(rows.instead[nth, row]))


@dataclass(frozen=True, eq=False)
class MeanPatches:
    """The mean effect of patches over pairs, as a share of the effect of the whole other source, with intervals.

    `places` by stack and place: [point]; `heads` by kind: [layer, head]. 0: the prediction is that of the own source,
    1: that of the other one. `mean_place` by stack [point]: the mean over all positions.
    """

    places: dict[tuple[Stack, str], Estimate]
    mean_place: dict[Stack, Floats]
    heads: dict[AttentionKind, Estimate]
    pairs: int

    @property
    def top(self) -> float:
        """The end of the colour scale: the largest share, at least all of the difference."""
        estimates = (*self.places.values(), *self.heads.values())
        return max(1.0, *(float(np.abs(item.value).max()) for item in estimates))

    def rows(self) -> list[dict[str, Any]]:
        """One table row per place and point, then one per head; the baseline is the mean over places or heads."""
        lines = []
        for (stack, place), item in self.places.items():
            for point, name in enumerate(point_names(len(item.value))):
                lines.append(
                    _row(
                        t("{stack} vectors", stack=translated(stack)),
                        name,
                        translated(place),
                        item,
                        (point,),
                        self.mean_place[stack][point],
                    )
                )
        for kind, item in self.heads.items():
            for at in np.ndindex(item.value.shape):
                lines.append(
                    _row(
                        t("{kind} heads", kind=translated(kind)),
                        index_name(*at),
                        t("all"),
                        item,
                        at,
                        float(item.value.mean()),
                    )
                )
        return [line | {t("pairs"): self.pairs} for line in lines]

    def caption(self) -> str:
        """Name the head that carries most of the difference, if it stands out from its kind beyond chance."""
        comparisons = sum(item.value.size for item in self.heads.values())
        best, said = 0.0, ""
        for kind, item in self.heads.items():
            above = item.value - (item.value.sum() - item.value) / max(item.value.size - 1, 1)
            wide = widened(Estimate(above, *(above + end - item.value for end in (item.low, item.high))), comparisons)
            at = tuple(int(i) for i in np.unravel_index(int(wide.low.argmax()), wide.low.shape))
            if wide.low[at] > best and above[at] >= LEAST_EFFECT:
                best = float(wide.low[at])
                said = t(
                    "The head that stands out most is {kind} {head}: its output alone carries {share} of the "
                    "difference, the other {kind} heads {others} on average.",
                    kind=translated(kind),
                    head=index_name(*at),
                    share=with_interval(item, percent, *at),
                    others=percent(float(item.value[at] - above[at])),
                )
        parts = [
            t(
                "Over {n} pair of sentences that differ in one token and get another answer.",
                "Over {n:,} pairs of sentences that differ in one token and get another answer.",
                n=self.pairs,
            ),
            said or t("No head stands out from the others of its kind beyond chance."),
            t("0 % is the prediction for the own sentence, 100 % that for the other one."),
            *([t("In brackets: a 95 % interval over pairs.")] if said else []),
            t(
                "A head stands out if its lead over the others of its kind is beyond chance in all {n} heads at once.",
                n=comparisons,
            ),
        ]
        return " ".join(parts)


def _row(part: str, name: str, place: str, item: Estimate, at: tuple[int, ...], baseline: float) -> dict[str, Any]:
    value, low, high = (rounded(number, 3) for number in item.at(*at))
    numbers = {t("effect"): value, t("low"): low, t("high"): high, t("baseline"): rounded(float(baseline), 3)}
    return {t("part"): part, t("at"): name, t("place"): place, **numbers}


def mean_patches(loaded: LoadedModel, pairs: Sequence[ChangedPair], report: Report = unheard) -> MeanPatches:
    """Average the effects of all patches over pairs.

    Raises:
        PatchError: there are no pairs.
    """
    if not pairs:
        raise PatchError("No sentence of the sample gets another answer when one of its tokens is replaced.")
    gaps, at_places, means, by_head = [], defaultdict(list), defaultdict(list), defaultdict(list)
    for nth, pair in enumerate(pairs):
        report(
            nth / len(pairs),
            later("Patching: {done} of {n} pair", "Patching: {done} of {n:,} pairs", done=nth, n=len(pairs)),
        )
        effects = patch_effects(loaded.transformer, pair.src, pair.other, pair.read, pair.token, pair.instead)
        gaps.append(effects.gap)
        for stack, values in effects.places.items():
            means[stack].append(values.mean(axis=1))
            for place, columns in _places(stack, pair, values.shape[1]).items():
                chosen = values[:, columns]
                at_places[stack, place].append(chosen.mean(axis=1) if columns else np.zeros(len(values)))
        for kind, changes in effects.heads.items():
            by_head[kind].append(changes)
    gap = np.array(gaps)

    def share(values: Sequence[Floats]) -> Estimate:
        stacked = np.stack(values)
        return bootstrap.of_ratio(stacked, np.broadcast_to(gap.reshape(-1, *[1] * (stacked.ndim - 1)), stacked.shape))

    return MeanPatches(
        {key: share(values) for key, values in at_places.items()},
        {stack: share(values).value for stack, values in means.items()},
        {kind: share(values) for kind, values in by_head.items()},
        len(pairs),
    )


def _places(stack: Stack, pair: ChangedPair, n: int) -> dict[str, list[int]]:
    """The n positions of a pair by what stands there; the source stands before the rows of a decoder alone."""
    last, end = n - 1, len(pair.src) - 1
    others = [i for i in range(end) if i not in (pair.place, last)]
    source = {message("the changed token"): [pair.place], message("other tokens, mean"): others}
    if stack == "encoder":
        return source | {"<eos>": [last]}
    rows = {message("the row that predicts"): [last]}
    if n == len(pair.read):
        return rows | {message("rows before, mean"): list(range(last))}
    return source | {message("rows between, mean"): list(range(end, last))} | rows
