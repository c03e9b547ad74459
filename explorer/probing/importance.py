"""Measure the importance of each head: ablation one by one, gradient scores, and the pruning curve."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name
from explorer.locale.messages import later, message, t, translated
from explorer.locale.text import capitalised, fixed, listed, rounded, small
from explorer.probing.edit_effect import interval, reference_scores, with_interval
from explorer.probing.reporting import Report, progress_check
from explorer.probing.sample import subsample
from model.analysis.bootstrap import LEVEL, Estimate
from model.analysis.importance import (
    Ablation,
    ByKind,
    SentenceLosses,
    ablate_each,
    batches_of,
    edited_loss,
    gradient_scores,
    heads_of,
    least_first,
    normalised,
    pruning_counts,
    pruning_curve,
    without,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import AttentionKind
from model.data import Task
from model.points import Head
from model.scoring import scoring_batches
from model.transformer import Transformer

SENTENCES = 100  # of the sample, at most
ORDERS = 4  # random ones beside a pruning curve
PER_TOKEN, EXACT = message("probability per token"), message("exact match")
_STILL_GOOD = 90.0  # percent of the whole model's quality


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of all heads on part of a sample.

    `ablation`: each head switched off alone; `gradient`: the score of Michel et al. (2019) before normalisation;
    `sentences`: the size of the part.
    """

    ablation: Ablation
    gradient: ByKind
    sentences: int

    @cached_property
    def by_layer(self) -> ByKind:
        """The gradient scores with the squares of each layer summing to 1."""
        return normalised(self.gradient)

    @property
    def largest_change(self) -> float:
        """The largest absolute change of the loss, at least 1e-9."""
        return max(float(np.abs(values).max()) for values in self.ablation.loss_change.values()) or 1e-9

    @property
    def clear(self) -> dict[str, NDArray[np.bool_]]:
        """By kind, [layer, head]: whether the change of the loss can be told from zero."""
        return {kind: item.differs_from_zero() for kind, item in self.ablation.loss_interval.items()}

    def least_first(self, *, by_gradient: bool = False) -> list[Head]:
        """All heads, those first whose absence changes the loss least, or whose gradient score is lowest."""
        return least_first(self.gradient if by_gradient else self.ablation.loss_change)

    def sentence_about(self, head: Head) -> str:
        """Describe the importance of one head, with its interval and its rank among all heads."""
        kind, layer, number = head
        change = float(self.ablation.loss_change[kind][layer, number])
        order = self.least_first()[::-1]
        accuracy = self.ablation.accuracy_interval[kind]
        right = Estimate(100 * accuracy.value, 100 * accuracy.low, 100 * accuracy.high)
        return t(
            "If this head adds nothing (zeroed alone, all others in place), the loss goes from {before} to {after} "
            "nats per token, by {change}; token accuracy changes by {accuracy} percentage points: rank {rank} of "
            "{heads} by the loss. Its gradient score, how steeply the loss changes as its output is scaled, is "
            "{gradient}; if all heads of its layer were equal, it would be {equal}. Over {sentences} of the sample, to "
            "save time. Where another head does the same work, each of them looks less important than both are "
            "together.",
            before=small(self.ablation.loss, 3),
            after=small(self.ablation.loss + change, 3),
            change=self.words(head),
            accuracy=interval(right, 1, layer, number),
            rank=order.index(head) + 1,
            heads=len(order),
            gradient=fixed(float(self.by_layer[kind][layer, number]), 2),
            equal=self.equal(kind),
            sentences=t("{n} sentence", "{n:,} sentences", n=self.sentences),
        )

    def equal(self, kind: AttentionKind) -> str:
        """The gradient score of each head of a layer in which all are equal."""
        return fixed(self.gradient[kind].shape[1] ** -0.5, 2)

    def largest(self, kind: AttentionKind) -> str:
        """Name the head of one kind without which the loss changes most."""
        values = self.ablation.loss_change[kind]
        layer, head = divmod(int(np.abs(values).argmax()), values.shape[1])
        change = self.words((kind, layer, head))
        return t("The loss changes most without {head}, by {change}.", head=index_name(layer, head), change=change)

    def steepest(self, kind: AttentionKind) -> str:
        """Name the head of each layer that has the highest gradient score."""
        values = self.by_layer[kind]
        heads = (f"{index_name(n, int(line.argmax()))} ({fixed(line.max(), 2)})" for n, line in enumerate(values))
        return t(
            "Highest in its layer: {heads}. Equal heads would have {equal}.",
            heads=listed(heads),
            equal=self.equal(kind),
        )

    def words(self, head: Head) -> str:
        """State the change of the loss without a head, with its interval, and whether it can be told from zero."""
        kind, *place = head
        change = self.ablation.loss_interval[kind]
        if self.clear[kind][*place]:
            return with_interval(change, partial(small, decimals=3, signed=True), *place)
        return interval(change, 3, *place)

    def unclear(self) -> list[Head]:
        """The heads whose effect on the loss cannot be told from zero."""
        clear = self.clear
        return [(kind, layer, head) for kind, layer, head in self.least_first() if not clear[kind][layer, head]]

    def rows(self) -> list[dict[str, Any]]:
        """One table row per head, the most important first."""
        rows = []
        for kind, *place in reversed(self.least_first()):
            at = tuple(place)
            change, low, high = (rounded(value, 5) for value in self.ablation.loss_interval[kind].at(*at))
            rows.append(
                {
                    t("kind"): translated(kind),
                    t("head"): index_name(*at),
                    t("loss change (nats)"): change,
                    t("low"): low,
                    t("high"): high,
                    t("token accuracy change"): rounded(float(self.ablation.accuracy_change[kind][at]), 4),
                    t("gradient score in its layer"): rounded(float(self.by_layer[kind][at]), 4),
                    t("gradient (nats)"): rounded(float(self.gradient[kind][at]), 4),
                }
            )
        return rows

    def summary(self) -> str:
        """Name the head that matters most, and count the changes that cannot be told from zero."""
        order = self.least_first()
        kind, *place = most = order[-1]
        least = self.ablation.loss_interval[kind].at(*place)[1]
        rivals = sum(int((item.high >= least).sum()) for item in self.ablation.loss_interval.values())
        better = sum(int((item.high < 0).sum()) for item in self.ablation.loss_interval.values())
        said = t(
            "Over {sentences}, the loss is highest without {most}, by {rise} nats per token.",
            sentences=t("{n} sentence", "{n:,} sentences", n=self.sentences),
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
            "For {unclear}, the change cannot be distinguished from zero. Switching off improves the model for "
            "{better}; if no head mattered, intervals of 95 % would say that of about {chance}. In brackets: 95 % "
            "intervals over sentences.",
            unclear=t("{n} head", "{n:,} heads", n=len(self.unclear())),
            better=t("{n} head", "{n:,} heads", n=better) if better else t("no head"),
            chance=fixed(len(order) * (1 - LEVEL) / 2, 1),
        )


def name_of(head: Head) -> str:
    """The name of a head in a sentence: "cross L1 H2"."""
    kind, layer, number = head
    return t("{kind} {head}", kind=translated(kind), head=index_name(layer, number))


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """Quality as heads are removed: their number, and loss (nats), exact match (0 to 1) and BLEU at each point.

    Exact match and BLEU are None if they are unknown. `changes`: the change of the loss at each point with its
    interval over sentences, [point]. `random`: the loss in random orders, [order, point]. The order was chosen on
    `chosen_on` sentences, and everything is scored on `scored_on` others.
    """

    counts: tuple[int, ...]
    loss: tuple[float, ...]
    exact: tuple[float | None, ...]
    bleu: tuple[float | None, ...]
    changes: Estimate
    random: NDArray[np.float64]
    chosen_on: int
    scored_on: int

    def interval(self) -> tuple[list[float], list[float]]:
        """The interval of the remaining probability per token, in percent: low and high at each point."""
        low, high = (100 * np.exp(-end) for end in (self.changes.high, self.changes.low))
        return low.tolist(), high.tolist()

    def remaining_quality(self) -> dict[str, Sequence[float]]:
        """Each measure by its English name, in percent of the whole model's; the loss as the probability per token."""
        measures = {PER_TOKEN: np.exp(-np.array(self.loss)), EXACT: self.exact, "BLEU": self.bleu}
        complete = {name: values for name, values in measures.items() if None not in values and values[0] > 0}
        return {name: [float(100 * v / values[0]) for v in values] for name, values in complete.items()}

    def random_quality(self) -> NDArray[np.float64]:
        """The remaining probability per token in random orders, in % of the whole model's: [order, point]."""
        quality: NDArray[np.float64] = 100 * np.exp(self.random[:, :1] - self.random)
        return quality

    def summary(self) -> str:
        """State when the probability per token falls below 90 %, beside random orders, and the last other measure."""
        quality = self.remaining_quality()
        own, total = self._fallen(quality[PER_TOKEN]), self.counts[-1]
        by_chance = sorted(self._fallen(values.tolist()) or total + 1 for values in self.random_quality())
        low, high = (
            str(number) if number <= total else t("more than {total}", total=total)
            for number in (by_chance[0], by_chance[-1])
        )
        random = low if low == high else t("{low} to {high}", low=low, high=high)
        outcome, times = self._outcome(PER_TOKEN, own), len(by_chance)
        said = [
            t(
                "{outcome}; in random order, drawn {times} times, with {heads}: later than each of them.",
                outcome=outcome,
                times=times,
                heads=random,
            )
            if (own or total + 1) > by_chance[-1]
            else t(
                "{outcome}; in random order, drawn {times} times, with {heads}: no later than some of them.",
                outcome=outcome,
                times=times,
                heads=random,
            )
        ]
        last, values = list(quality.items())[-1]
        if len(quality) > 1:
            said.append(f"{self._outcome(last, self._fallen(values))}.")
        said.append(
            t(
                "“Probability per token” is that of the right token (geometric mean), with its 95 % interval over "
                "sentences. The order was chosen on {sentences} and scored on {others} others; it is that of the whole "
                "model, not recomputed as heads are removed.",
                sentences=t("{n} sentence", "{n:,} sentences", n=self.chosen_on),
                others=self.scored_on,
            )
        )
        return " ".join(said)

    def _fallen(self, values: Sequence[float]) -> int | None:
        """The number of heads that are off when a measure falls below 90 %; None if it never does."""
        return next((n for n, value in zip(self.counts, values, strict=True) if value < _STILL_GOOD), None)

    def _outcome(self, measure: str, fallen: int | None) -> str:
        name, heads = capitalised(translated(measure)), t("{n} head", "{n:,} heads", n=self.counts[-1])
        if fallen is None:
            return t(
                "{measure} stays above {percent:g} % however many of {heads} are switched off",
                measure=name,
                percent=_STILL_GOOD,
                heads=heads,
            )
        return t(
            "{measure} falls below {percent:g} % of the whole model's with {fallen} of {heads} switched off",
            measure=name,
            percent=_STILL_GOOD,
            fallen=fallen,
            heads=heads,
        )


def measure_importance(loaded: LoadedModel, sample: Sample, report: Report) -> Importance:
    """Measure ablation and gradient scores on at most `SENTENCES` sentences of a sample."""
    part = subsample(sample, SENTENCES)
    model, pairs = loaded.transformer, part.pairs
    ablation = ablate_each(model, pairs, check=_one_by_one(model, part, report))
    return Importance(ablation, gradient_scores(model, pairs), len(part))


def _one_by_one(model: Transformer, part: Sample, report: Report) -> Callable[[], None]:
    """Reports progress of :func:`ablate_each`, which checks before each batch of the whole model and of each head."""
    n_heads = len(heads_of(model.config))
    total = (n_heads + 1) * len(batches_of(part.pairs))
    return progress_check(
        report, total, later("Switching off {n} head one by one", "Switching off {n:,} heads one by one", n=n_heads)
    )


def halves(sample: Sample) -> tuple[Sample, Sample]:
    """Every other sentence of at most `SENTENCES`, to choose heads on, and the rest, to score that choice on.

    A single sentence stands in both halves.
    """
    part = subsample(sample, SENTENCES)
    return part.part(range(0, len(part), 2)), part.part(range(1, len(part), 2) or range(1))


def measure_curve(
    loaded: LoadedModel, sample: Sample, task: Task | None, report: Report, *, by_gradient: bool = False
) -> PruningCurve:
    """Measure the pruning curve on half of the sample, in the order of importance on the other half.

    It comes with translations if all references are known, and with the loss in random orders.
    """
    choice, part = halves(sample)
    model = loaded.transformer
    if by_gradient:
        report(0.0, later("Computing gradients"))
        order = least_first(gradient_scores(model, choice.pairs))
    else:
        order = least_first(ablate_each(model, choice.pairs, check=_one_by_one(model, choice, report)).loss_change)
    target = loaded.target if all(part.references) else None
    counts = pruning_counts(len(order))
    n_batches = len(batches_of(part.pairs)) + (len(scoring_batches(part.pairs)) if target else 0)
    inner = counts[1:-1]  # every order begins and ends with the same heads
    n_checks = len(counts) * n_batches + ORDERS * len(inner) * len(batches_of(part.pairs))
    check = progress_check(report, n_checks, later("Switching heads off, the least important first"))
    losses, exacts, bleus, changes = [], [], [], []
    whole: SentenceLosses | None = None
    for step in pruning_curve(model, part.pairs, order, target, check=check):
        whole = whole or step.scores
        losses.append(step.scores.loss)
        changes.append(whole.loss_change(step.scores))
        right, bleu = reference_scores(loaded, part, task, step.translations) if target else (None, None)
        exacts.append(None if right is None else float(right.mean()))
        bleus.append(bleu)
    generator = random.Random(0)
    orders = [generator.sample(order, len(order)) for _ in range(ORDERS)]
    by_chance = [
        [losses[0], *(edited_loss(model, part.pairs, without(each[:n]), check=check).loss for n in inner), losses[-1]]
        for each in orders
    ]
    joined = Estimate(*(np.array([part.at()[nth] for part in changes]) for nth in range(3)))
    return PruningCurve(
        tuple(counts),
        tuple(losses),
        tuple(exacts),
        tuple(bleus),
        joined,
        np.array(by_chance),
        len(choice),
        len(part),
    )
