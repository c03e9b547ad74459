"""Measure the importance of each head: ablation one by one, gradient scores, and the pruning curve."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name
from explorer.locale.text import fixed, plural, rounded
from explorer.probing.edit_effect import interval, reference_scores
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
from model.data import Task
from model.points import Head
from model.scoring import scoring_batches
from model.transformer import Transformer

SENTENCES = 100  # of the sample, at most
ORDERS = 4  # random ones beside a pruning curve
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
        return (
            f"Without this head, the loss goes from {fixed(self.ablation.loss, 3)} to "
            f"{fixed(self.ablation.loss + change, 3)} nats per token, by {self.words(head)}; token accuracy by "
            f"{interval(right, 1, layer, number)} percentage points: rank {order.index(head) + 1} of {len(order)}. "
            f"Gradient score in its layer: {fixed(float(self.by_layer[kind][layer, number]), 2)}. "
            f"Over {plural(self.sentences, 'sentence')}."
        )

    def words(self, head: Head) -> str:
        """State the change of the loss without a head, with its interval, and whether it can be told from zero."""
        kind, *place = head
        return interval(self.ablation.loss_interval[kind], 3, *place)

    def unclear(self) -> list[Head]:
        """The heads whose effect on the loss cannot be told from zero."""
        clear = self.clear
        return [(kind, layer, head) for kind, layer, head in self.least_first() if not clear[kind][layer, head]]

    def rows(self) -> list[dict[str, Any]]:
        """One table row per head, the most important first."""
        clear, rows = self.clear, []
        for kind, *place in reversed(self.least_first()):
            at = tuple(place)
            change, low, high = (rounded(value, 3) for value in self.ablation.loss_interval[kind].at(*at))
            rows.append(
                {
                    "kind": kind,
                    "head": index_name(*at),
                    "loss change (nats)": change,
                    "low": low,
                    "high": high,
                    "distinguishable from zero": "yes" if clear[kind][at] else "no",
                    "token accuracy change": rounded(float(self.ablation.accuracy_change[kind][at]), 4),
                    "gradient score in its layer": rounded(float(self.by_layer[kind][at]), 4),
                    "gradient (nats)": rounded(float(self.gradient[kind][at]), 4),
                }
            )
        return rows

    def summary(self) -> str:
        """Name the heads that matter most and least, and count the changes that cannot be told from zero."""
        order = self.least_first()
        least, most = order[0], order[-1]
        better = sum(int((item.high < 0).sum()) for item in self.ablation.loss_interval.values())
        n_better = plural(better, "head") if better else "no head"
        return (
            f"Over {plural(self.sentences, 'sentence')}, the loss is highest without {name_of(most)}, by "
            f"{self.words(most)} nats per token, and lowest without {name_of(least)}, by {self.words(least)}: the "
            f"extremes of {plural(len(order), 'head')}, likely to be smaller on other sentences. For "
            f"{plural(len(self.unclear()), 'head')}, the change cannot be distinguished from zero. Switching off "
            f"improves the model for {n_better}; if no head mattered, intervals of 95 % would say that of about "
            f"{fixed(len(order) * (1 - LEVEL) / 2, 1)}. In brackets: 95 % intervals over sentences."
        )


def name_of(head: Head) -> str:
    """The name of a head in a sentence: "cross L1 H2"."""
    kind, layer, number = head
    return f"{kind} {index_name(layer, number)}"


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
        """Each measure as a percentage of the whole model's; the loss as e^-loss, the probability per token."""
        measures = {"probability per token": np.exp(-np.array(self.loss)), "exact match": self.exact, "BLEU": self.bleu}
        complete = {name: values for name, values in measures.items() if None not in values and values[0] > 0}
        return {name: [float(100 * v / values[0]) for v in values] for name, values in complete.items()}

    def random_quality(self) -> NDArray[np.float64]:
        """The remaining probability per token in random orders, in % of the whole model's: [order, point]."""
        quality: NDArray[np.float64] = 100 * np.exp(self.random[:, :1] - self.random)
        return quality

    def summary(self) -> str:
        """State when the probability per token falls below 90 %, beside random orders, and the last other measure."""
        quality = self.remaining_quality()
        own, total = self._fallen(quality["probability per token"]), self.counts[-1]
        by_chance = sorted(self._fallen(values.tolist()) or total + 1 for values in self.random_quality())
        ends = [str(number) if number <= total else f"more than {total}" for number in (by_chance[0], by_chance[-1])]
        later = (own or total + 1) > by_chance[-1]
        last, values = list(quality.items())[-1]
        other = "" if len(quality) == 1 else f" {last[0].upper()}{last[1:]} {self._outcome(self._fallen(values))}."
        return (
            f"Probability per token {self._outcome(own)}; in random order, drawn {len(by_chance)} times, "
            f"with {' to '.join(dict.fromkeys(ends))}: "
            f"{'later than each of them' if later else 'no later than some of them'}.{other} 'Probability per token' "
            f"is that of the right token (geometric mean), with its 95 % interval over sentences. The order was chosen "
            f"on {plural(self.chosen_on, 'sentence')} and scored on {self.scored_on} others; it is that of the whole "
            f"model, not recomputed as heads are removed."
        )

    def _fallen(self, values: Sequence[float]) -> int | None:
        """The number of heads that are off when a measure falls below 90 %; None if it never does."""
        return next((n for n, value in zip(self.counts, values, strict=True) if value < _STILL_GOOD), None)

    def _outcome(self, fallen: int | None) -> str:
        total = plural(self.counts[-1], "head")
        if fallen is None:
            return f"stays above {_STILL_GOOD:g} % however many of {total} are switched off"
        return f"falls below {_STILL_GOOD:g} % of the whole model's with {fallen} of {total} switched off"


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
    return progress_check(report, total, f"Switching off {plural(n_heads, 'head')} one by one")


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
        report(0.0, "Computing gradients")
        order = least_first(gradient_scores(model, choice.pairs))
    else:
        order = least_first(ablate_each(model, choice.pairs, check=_one_by_one(model, choice, report)).loss_change)
    target = loaded.target if all(part.references) else None
    counts = pruning_counts(len(order))
    n_batches = len(batches_of(part.pairs)) + (len(scoring_batches(part.pairs)) if target else 0)
    inner = counts[1:-1]  # every order begins and ends with the same heads
    n_checks = len(counts) * n_batches + ORDERS * len(inner) * len(batches_of(part.pairs))
    check = progress_check(report, n_checks, "Switching heads off, the least important first")
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
