"""Summarise where the attention of an experiment's models rests (on which sinks), from stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.decoding.names import KIND_NAMES, short_layer
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, listed
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.config import ATTENTION_KINDS

MEASURES = {
    "first": message("weight on the first token (%)"),
    "last": message("weight on the last token (%)"),
    "largest": message("largest number over the median"),
}
UNIFORM = message("equal weights")


@dataclass(frozen=True)
class Place:
    """One layer of one kind of attention, with each arm's value: mean and range over its runs."""

    name: str
    values: dict[str, MeanAndRange]
    uniform: float | None  # the value of equal weights; None for a measure without one


def places(arms: Sequence[ArmRuns], measure: str) -> list[Place]:
    """Collect a measure at every layer of every kind of attention for which any run has it; shares in percent."""
    factor = 1.0 if measure == "largest" else 100.0
    collected = []
    for kind in ATTENTION_KINDS:
        by_arm = {arm.label: [run.rests[kind] for run in arm.runs if kind in run.rests] for arm in arms}
        layers = max((len(rests.get(measure, ())) for runs in by_arm.values() for rests in runs), default=0)
        for layer in range(layers):
            values, uniform = {}, None
            for label, runs in by_arm.items():
                measured = [rests for rests in runs if layer < len(rests.get(measure, ()))]
                if summary := mean_and_range([factor * rests[measure][layer] for rests in measured]):
                    values[label] = summary
                    uniform = None if measure == "largest" else 100 * measured[0]["uniform"][layer]
            collected.append(
                Place(t("{kind} {layer}", kind=translated(kind), layer=short_layer(layer + 1)), values, uniform)
            )
    return collected


def caption(layers: Sequence[Place], measure: str) -> str:
    """Describe the figure: the layer with the highest value of each arm."""
    parts = []
    for label in dict.fromkeys(label for place in layers for label in place.values):
        top = max((place for place in layers if label in place.values), key=lambda place: place.values[label].mean)
        parts.append(
            t("{variant} {value} in {place}", variant=label, value=top.values[label].text(_whole), place=top.name)
        )
    kinds = listed([f"{translated(kind)} = {translated(KIND_NAMES[kind])}" for kind in ATTENTION_KINDS])
    return t(
        "{measure}, highest: {highest}. ({kinds}; bars span the runs.)",
        measure=capitalised(translated(MEASURES[measure])),
        highest="; ".join(parts),
        kinds=kinds,
    )


def _whole(value: float) -> str:
    return f"{value:.0f}"
