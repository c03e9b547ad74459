"""The importance of each head: ablation one by one, gradient scores, and the pruning curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.attention.names import index_name
from explorer.probing.quality import reference_scores, subsample
from explorer.probing.sample import Measured, Report
from explorer.text import fixed, plural
from model.analysis.importance import (
    Ablation,
    ByKind,
    ablate_each,
    batches_of,
    gradient_scores,
    heads_of,
    least_first,
    pruning_counts,
    pruning_curve,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.points import Head

SENTENCES = 100  # of the sample, at most
_STILL_GOOD = 90.0  # percent of the whole model's quality


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of all heads on part of a sample.

    `ablation`: each head switched off alone; `gradient`: the score of Michel et al. (2019) before normalisation;
    `by_layer`: the same with the squares of each layer summing to 1; `sentences`: the size of the part.
    """

    ablation: Ablation
    gradient: ByKind
    by_layer: ByKind
    sentences: int

    def sentence_about(self, head: Head) -> str:
        """The importance of one head, with its rank among all heads."""
        kind, layer, number = head
        change = float(self.ablation.loss_change[kind][layer, number])
        order = least_first(self.ablation.loss_change)[::-1]
        right = 100 * float(self.ablation.accuracy_change[kind][layer, number])
        return (
            f"Switched off, the loss goes from {self.ablation.loss:.3f} to {self.ablation.loss + change:.3f} nats "
            f"per token ({fixed(change, 3, signed=True)}) and token accuracy changes by "
            f"{fixed(right, 1, signed=True)} percentage points: rank {order.index(head) + 1} of {len(order)}. "
            f"Gradient score in its layer: {self.by_layer[kind][layer, number]:.2f}. "
            f"Over {plural(self.sentences, 'sentence')}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row for each head, the most important first."""
        return [
            {
                "kind": kind,
                "head": index_name(layer, head),
                "loss change (nats)": round(float(self.ablation.loss_change[kind][layer, head]), 4),
                "token accuracy change": round(float(self.ablation.accuracy_change[kind][layer, head]), 4),
                "gradient score in its layer": round(float(self.by_layer[kind][layer, head]), 4),
                "gradient (nats)": round(float(self.gradient[kind][layer, head]), 4),
            }
            for kind, layer, head in reversed(least_first(self.ablation.loss_change))
        ]

    def summary(self) -> str:
        """The heads whose absence changes the loss most and least."""
        order = least_first(self.ablation.loss_change)
        (least, least_change), (most, most_change) = (
            (f"{kind} {index_name(layer, head)}", float(self.ablation.loss_change[kind][layer, head]))
            for kind, layer, head in (order[0], order[-1])
        )
        return (
            f"Over {plural(self.sentences, 'sentence')}. The loss changes most without {most} "
            f"({fixed(most_change, 3, signed=True)}) and least without {least} "
            f"({fixed(least_change, 3, signed=True)}); below 0 the model is better off without the head."
        )


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """Quality as heads are removed: their number, and loss (nats), exact match (0 to 1) and BLEU at each point.

    Exact match and BLEU are None where they are not known.
    """

    counts: tuple[int, ...]
    loss: tuple[float, ...]
    exact: tuple[float | None, ...]
    bleu: tuple[float | None, ...]

    def remaining_quality(self) -> dict[str, Sequence[float]]:
        """Each measure as a percentage of the whole model's; the loss as e^-loss, the probability per token."""
        series: dict[str, Sequence[float]] = {"probability per token": _percent_of_first(np.exp(-np.array(self.loss)))}
        for name, values in (("exact match", self.exact), ("BLEU", self.bleu)):
            known = [value for value in values if value is not None]
            if len(known) == len(values) and known[0] > 0:
                series[name] = _percent_of_first(np.array(known))
        return series

    def summary(self) -> str:
        """The number of heads switched off when the last of the measures falls below 90 % of the whole model's."""
        name, values = list(self.remaining_quality().items())[-1]
        fallen = next((n for n, value in zip(self.counts, values, strict=True) if value < _STILL_GOOD), None)
        total = plural(self.counts[-1], "head")
        outcome = (
            f"stays above {_STILL_GOOD:g} % however many of {total} are switched off"
            if fallen is None
            else f"falls below {_STILL_GOOD:g} % of the whole model's with {fallen} of {total} switched off"
        )
        return (
            f"{name[0].upper()}{name[1:]} {outcome}. 'Probability per token' is that of the right token (geometric "
            f"mean). The order is that of the whole model: it is not computed again as heads go."
        )


def _percent_of_first(values: NDArray[np.float64]) -> list[float]:
    return [float(100 * value / values[0]) for value in values]


def progress_check(report: Report, total: int, label: str) -> Callable[[], None]:
    """A function that reports one more of `total` parts as done each time it is called."""
    done = 0

    def check() -> None:
        nonlocal done
        report(done / max(total, 1), label)
        done += 1

    return check


def measure_importance(loaded: LoadedModel, sample: Sample, report: Report) -> Importance:
    """Ablation and gradient scores on at most `SENTENCES` sentences of a sample."""
    part = subsample(sample, SENTENCES)
    model, pairs = loaded.transformer, part.pairs
    n_batches, n_heads = len(batches_of(pairs)), len(heads_of(model.config))
    check = progress_check(report, (n_heads + 1) * n_batches, f"Switching off {plural(n_heads, 'head')} one by one")
    ablation = ablate_each(model, pairs, check=check)
    raw = gradient_scores(model, pairs, normalise=False)
    return Importance(ablation, raw, gradient_scores(model, pairs), len(part))


def measure_curve(
    loaded: LoadedModel, measured: Measured, order: Sequence[Head], report: Report, *, sentences: int = SENTENCES
) -> PruningCurve:
    """The pruning curve in a given order, with translations where all references are known."""
    part = subsample(measured.sample, sentences)
    known = all(part.references)
    counts = pruning_counts(len(order))
    n_batches = len(batches_of(part.pairs))
    label = "Switching heads off, the least important first"
    check = progress_check(report, len(counts) * n_batches * (2 if known else 1), label)
    losses, exacts, bleus = [], [], []
    target = loaded.target if known else None
    for step in pruning_curve(loaded.transformer, part.pairs, list(order), target, check=check):
        losses.append(step.scores.loss)
        exact, score = reference_scores(loaded, part, measured.task, step.translations) if known else (None, None)
        exacts.append(exact)
        bleus.append(score)
    return PruningCurve(tuple(counts), tuple(losses), tuple(exacts), tuple(bleus))
