"""Measure the importance of each head: ablation one by one, and the pruning curve."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name
from explorer.locale.messages import later, t, translated
from explorer.locale.text import fixed, listed
from explorer.probing.edit_effect import with_interval
from explorer.probing.reporting import Report, progress_check
from explorer.probing.sample import subsample
from model.analysis.bootstrap import LEVEL, Estimate
from model.analysis.importance import (
    Ablation,
    SentenceLosses,
    ablate_each,
    batches_of,
    edited_loss,
    heads_of,
    least_first,
    mean_ablate_each,
    without,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import AttentionKind
from model.points import Head
from model.transformer import Transformer

SENTENCES = 100  # of the sample, at most
ORDERS = 4  # random ones beside a pruning curve
_MOST_NAMED = 2  # heads that tie
_MOST_TRIED = 3  # heads that are proposed for a change
_STILL_GOOD = 90.0  # percent of the whole model's quality


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of all heads on part of a sample.

    `ablation`: each head switched off alone; `sentences`: the size of the part; `by_mean`: the change of the loss with
    each head's output replaced by its mean, None if a file made before does not have it.
    """

    ablation: Ablation
    sentences: int
    by_mean: Mapping[AttentionKind, Estimate] | None = None

    @property
    def span(self) -> tuple[float, float]:
        """The colour scale of changes of the loss: from 0, unless switching off a head clearly lowers it."""
        changes = self.ablation.loss_interval.values()
        top = max(float(np.abs(item.value).max()) for item in changes) or 1e-9
        return (-top if any((item.high < 0).any() for item in changes) else 0.0, top)

    @property
    def decimals(self) -> int:
        """The decimals of all changes of the loss: three digits of the largest, and at least three."""
        return max(3, 2 - math.floor(math.log10(self.span[1])))

    @property
    def clear(self) -> dict[str, NDArray[np.bool_]]:
        """By kind, [layer, head]: whether the change of the loss can be told from zero."""
        return {kind: item.differs_from_zero() for kind, item in self.ablation.loss_interval.items()}

    def least_first(self) -> list[Head]:
        """All heads, those first whose absence changes the loss least."""
        return least_first(self.ablation.loss_change)

    def of_head(self, head: Head) -> tuple[list[dict[str, Any]], str]:
        """The changes without one head as rows of a table, and its rank among all heads."""
        order = self.least_first()
        (row,) = (row for row in self.rows() if row[t("head")] == name_of(head))
        changes = [{t("change of"): name, t("without the head"): row[name]} for name in list(row)[2:]]
        return changes, t(
            "Over {sentences}, with 95 % intervals: this head alone is switched off (zeroed) or replaced by its mean. "
            "The loss of the whole model is {loss} nats per token. Of {heads} heads, this one has rank {rank}.",
            sentences=t("{n} sentence", "{n:,} sentences", n=self.sentences),
            loss=fixed(self.ablation.loss, self.decimals),
            heads=len(order),
            rank=len(order) - order.index(head),
        )

    def to_try(self) -> str:
        """Name the heads that are missed most on the sample, which need not matter in one sentence."""
        most = [name_of(head) for head in self.least_first()[: -_MOST_TRIED - 1 : -1]]
        return t(
            "Over the sample, the loss rises most without {heads}. One of them alone may leave this sentence as it is: "
            "choose several.",
            heads=listed(most),
        )

    def words(self, head: Head) -> str:
        """State the change of the loss without a head, with its interval, and whether it can be told from zero."""
        kind, *place = head
        change = self._change(self.ablation.loss_interval, head)
        return change if self.clear[kind][*place] else t("{change}, not distinguishable from zero", change=change)

    def rows(self) -> list[dict[str, Any]]:
        """One table row per head, the most important first: text with intervals in brackets."""
        rows = []
        for rank, head in enumerate(reversed(self.least_first()), start=1):
            kind, *place = head
            row = {t("rank"): rank, t("head"): name_of(head)}
            row[t("loss, zeroed (nats)")] = self._change(self.ablation.loss_interval, head)
            if self.by_mean is not None:
                row[t("loss, mean instead (nats)")] = self._change(self.by_mean, head)
            row[t("right tokens (points)")] = with_interval(self.ablation.accuracy_interval[kind], _points, *place)
            rows.append(row)
        return rows

    def _change(self, changes: Mapping[AttentionKind, Estimate], head: Head) -> str:
        kind, *place = head
        return with_interval(changes[kind], partial(fixed, decimals=self.decimals, signed=True), *place)

    def summary(self, sample: int) -> str:
        """Name the head that matters most, and count changes; it was measured on part of `sample` sentences."""
        order = self.least_first()
        kind, *place = most = order[-1]
        least = self.ablation.loss_interval[kind].at(*place)[1]
        rivals = sum(int((item.high >= least).sum()) for item in self.ablation.loss_interval.values())
        worse, better = (
            sum(int(clear.sum()) for clear in each)
            for each in zip(
                *((item.low > 0, item.high < 0) for item in self.ablation.loss_interval.values()), strict=True
            )
        )
        unclear = sum(int((~clear).sum()) for clear in self.clear.values())
        said = t(
            "Over {part} of the {all} sentences, evenly spread, the loss is highest without {most}, by {rise} nats "
            "per token.",
            part=self.sentences,
            all=sample,
            most=name_of(most),
            rise=self.words(most),
        )
        if rivals > 1:
            said += " " + t(
                "The intervals of {rivals} heads reach that far: the largest of them is likely to be smaller on other "
                "sentences.",
                rivals=rivals,
            )
        return f"{said} " + t(
            "Of {all} heads, {worse} raise the loss when they are switched off, {better} lower it, and {unclear} "
            "cannot be told from zero. If no head mattered, about {chance} of {all} would seem to raise "
            "it by chance, and as many to lower it.",
            all=len(order),
            worse=worse,
            better=better,
            unclear=unclear,
            chance=fixed(len(order) * (1 - LEVEL) / 2, 1),
        )


def _points(share: float) -> str:
    """A change of a share in percentage points."""
    return fixed(100 * share, 1, signed=True)


def name_of(head: Head) -> str:
    """The name of a head in a sentence: "cross L1 H2"."""
    kind, layer, number = head
    return t("{kind} {head}", kind=translated(kind), head=index_name(layer, number))


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """Quality as heads are removed: their number, and the loss (nats) at each point.

    `changes`: the change of the loss at each point with its interval over sentences, [point]. `random`: the loss in
    random orders, [order, point]. The order was chosen on `chosen_on` sentences, and everything is scored on
    `scored_on` others.
    """

    counts: tuple[int, ...]
    loss: tuple[float, ...]
    changes: Estimate
    random: NDArray[np.float64]
    chosen_on: int
    scored_on: int

    def interval(self) -> tuple[list[float], list[float]]:
        """The interval of the remaining probability per token, in percent: low and high at each point."""
        low, high = (100 * np.exp(-end) for end in (self.changes.high, self.changes.low))
        return low.tolist(), high.tolist()

    def remaining_quality(self) -> list[float]:
        """The probability per token at each point, in percent of the whole model's."""
        return [100 * math.exp(self.loss[0] - loss) for loss in self.loss]

    def random_quality(self) -> NDArray[np.float64]:
        """The remaining probability per token in random orders, in % of the whole model's: [order, point]."""
        quality: NDArray[np.float64] = 100 * np.exp(self.random[:, :1] - self.random)
        return quality

    def summary(self) -> str:
        """State when the probability per token falls below 90 %, beside random orders."""
        own, total = self._fallen(self.remaining_quality()), self.counts[-1]
        by_chance = sorted(self._fallen(values.tolist()) or total + 1 for values in self.random_quality())
        low, high = (
            str(number) if number <= total else t("more than {total}", total=total)
            for number in (by_chance[0], by_chance[-1])
        )
        random = low if low == high else t("{low} to {high}", low=low, high=high)
        ends, least = zip(self.counts, *self.interval(), strict=True), _STILL_GOOD
        said = [self._outcome(own)]
        if near := listed(str(n) for n, low, high in ends if low <= least <= high):
            said.append(t("With {counts} off, the interval contains {percent:g} %.", counts=near, percent=least))
        said += [
            t(
                "The least important first holds out longer than each of {times} random orders, which are first seen "
                "below with {heads}.",
                times=len(by_chance),
                heads=random,
            )
            if (own or total + 1) > by_chance[-1]
            else t(
                "The least important first holds out no longer than some of {times} random orders, which are first "
                "seen below with {heads}.",
                times=len(by_chance),
                heads=random,
            ),
            t("Tried were {counts} heads, nothing between.", counts=listed(map(str, self.counts))),
        ]
        said.append(
            t(
                "“Probability per token” is that of the right token (geometric mean). Bars: its 95 % interval over "
                "sentences, and the lowest to the highest of the random orders. The order was chosen on {sentences} "
                "and scored on {others} others; it is that of the whole model, not recomputed as heads are removed.",
                sentences=t("{n} sentence", "{n:,} sentences", n=self.chosen_on),
                others=self.scored_on,
            )
        )
        return " ".join(said)

    def _fallen(self, values: Sequence[float]) -> int | None:
        """The number of heads that are off when a measure falls below 90 %; None if it never does."""
        return next((n for n, value in zip(self.counts, values, strict=True) if value < _STILL_GOOD), None)

    def _outcome(self, fallen: int | None) -> str:
        heads = t("{n} head", "{n:,} heads", n=self.counts[-1])
        if fallen is None:
            return t(
                "Probability per token stays above {percent:g} % however many of {heads} are switched off.",
                percent=_STILL_GOOD,
                heads=heads,
            )
        return t(
            "Probability per token is at {percent:g} % of the whole model's or more with up to {before} of {heads} "
            "switched off, and below with {fallen}.",
            percent=_STILL_GOOD,
            before=self.counts[self.counts.index(fallen) - 1],
            fallen=fallen,
            heads=heads,
        )


def measure_importance(loaded: LoadedModel, sample: Sample, report: Report) -> Importance:
    """Measure each head switched off on at most `SENTENCES` sentences of a sample."""
    part = subsample(sample, SENTENCES)
    model, pairs = loaded.transformer, part.pairs
    check = _one_by_one(model, part, report, times=2)
    ablation = ablate_each(model, pairs, check=check)
    return Importance(ablation, len(part), mean_ablate_each(model, pairs, check=check))


def _one_by_one(model: Transformer, part: Sample, report: Report, *, times: int = 1) -> Callable[[], None]:
    """Reports progress of :func:`ablate_each`, which checks before each batch of the whole model and of each head."""
    n_heads = len(heads_of(model.config))
    total = times * (n_heads + 1) * len(batches_of(part.pairs))
    return progress_check(
        report, total, later("Switching off {n} head one by one", "Switching off {n:,} heads one by one", n=n_heads)
    )


def halves(sample: Sample) -> tuple[Sample, Sample]:
    """Every other sentence of at most `SENTENCES`, to choose heads on, and the rest, to score that choice on.

    A single sentence stands in both halves.
    """
    part = subsample(sample, SENTENCES)
    return part.part(range(0, len(part), 2)), part.part(range(1, len(part), 2) or range(1))


def measure_curve(loaded: LoadedModel, sample: Sample, report: Report) -> PruningCurve:
    """Measure the pruning curve (Michel et al. 2019, §4.2) on half of the sample, ordered by importance on the other.

    Beside it is the loss in random orders.
    """
    choice, part = halves(sample)
    model = loaded.transformer
    order = least_first(ablate_each(model, choice.pairs, check=_one_by_one(model, choice, report)).loss_change)
    generator = random.Random(0)
    orders = [generator.sample(order, len(order)) for _ in range(ORDERS)]
    counts = sorted({round(i * len(order) / 10) for i in range(11)})  # of heads removed, from none to all
    inner = counts[1:-1]  # every order begins and ends with the same heads
    n_checks = (len(counts) + ORDERS * len(inner)) * len(batches_of(part.pairs))
    check = progress_check(report, n_checks, later("Switching heads off, the least important first"))

    def losses(heads: Sequence[Head], numbers: Sequence[int]) -> list[SentenceLosses]:
        return [edited_loss(model, part.pairs, without(heads[:n]) if n else None, check=check) for n in numbers]

    own = losses(order, counts)
    changes = [own[0].loss_change(each).at() for each in own]
    by_chance = [[own[0].loss, *(each.loss for each in losses(heads, inner)), own[-1].loss] for heads in orders]
    return PruningCurve(
        tuple(counts),
        tuple(each.loss for each in own),
        Estimate(*(np.array(ends) for ends in zip(*changes, strict=True))),
        np.array(by_chance),
        len(choice),
        len(part),
    )
