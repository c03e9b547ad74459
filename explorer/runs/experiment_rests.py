"""Where the attention of an experiment's models rests: numbers and sentences from stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.decoding.names import KIND_NAMES, short_layer
from explorer.locale.text import listed
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.config import ATTENTION_KINDS

MEASURES = {
    "first": "weight on the first token (%)",
    "last": "weight on the last token (%)",
    "largest": "largest number over the median",
}
UNIFORM = "equal weights"


@dataclass(frozen=True)
class Place:
    """One layer's attention of some kind, with the value of each arm: mean and range over its runs."""

    name: str
    values: dict[str, MeanAndRange]
    uniform: float | None  # what equal weights would give; None for a measure that has no such value


def places(arms: Sequence[ArmRuns], measure: str) -> list[Place]:
    """The measure at every layer of every kind of attention, if it was taken in any run; shares in percent."""
    factor = 1.0 if measure == "largest" else 100.0
    found = []
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
            found.append(Place(f"{kind} {short_layer(layer + 1)}", values, uniform))
    return found


def caption(found: Sequence[Place], measure: str) -> str:
    """The figure in a sentence: for each arm, its highest place."""
    parts = []
    for label in dict.fromkeys(label for place in found for label in place.values):
        top = max((place for place in found if label in place.values), key=lambda place: place.values[label].mean)
        parts.append(f"{label} {top.values[label].text(_whole)} in {top.name}")
    kinds = listed([f"{kind} = {KIND_NAMES[kind]}" for kind in ATTENTION_KINDS])
    return f"{MEASURES[measure].capitalize()}, highest: {'; '.join(parts)}. ({kinds}; bars reach over the runs.)"


def _whole(value: float) -> str:
    return f"{value:.0f}"
