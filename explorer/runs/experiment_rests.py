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


def has_rests(arms: Sequence[ArmRuns]) -> bool:
    """Whether it was measured in any run."""
    return any(run.rests for one in arms for run in one.runs)


def places(arms: Sequence[ArmRuns], measure: str) -> list[Place]:
    """The measure at every layer of every kind of attention; shares in percent."""
    factor = 1.0 if measure == "largest" else 100.0
    found = []
    for kind in ATTENTION_KINDS:
        layers = max((len(run.rests.get(kind, {}).get(measure, ())) for one in arms for run in one.runs), default=0)
        for layer in range(layers):
            values, uniform = {}, None
            for one in arms:
                at = [run.rests[kind] for run in one.runs if layer < len(run.rests.get(kind, {}).get(measure, ()))]
                summary = mean_and_range([factor * numbers[measure][layer] for numbers in at])
                if summary:
                    values[one.label] = summary
                    uniform = None if measure == "largest" else 100 * at[0]["uniform"][layer]
            found.append(Place(f"{kind} {short_layer(layer + 1)}", values, uniform))
    return found


def rest_sentences(arms: Sequence[ArmRuns]) -> list[str]:
    """Where each arm rests most, and how far its largest number stands out."""
    sentences = []
    for one in arms:
        parts = []
        for measure, noun in (("first", "first"), ("last", "last")):
            here = [place for place in places(arms, measure) if one.label in place.values]
            if not here:
                continue
            most = max(here, key=lambda place: place.values[one.label].mean - (place.uniform or 0.0))
            parts.append(
                f"the {noun} token gets most in {most.name}: {_range(most.values[one.label])} % of the weight, where "
                f"equal weights would give it {most.uniform:.0f} %"
            )
        largest = [place for place in places(arms, "largest") if one.label in place.values]
        if largest:
            top = max(largest, key=lambda place: place.values[one.label].mean)
            parts.append(f"the largest number is {_range(top.values[one.label])} times the median (after {top.name})")
        if parts:
            sentences.append(f"'{one.label}': {'; '.join(parts)}.")
    return sentences


def caption(found: Sequence[Place], measure: str) -> str:
    """The figure in a sentence: for each arm, its highest place."""
    labels = dict.fromkeys(label for place in found for label in place.values)
    parts = []
    for label in labels:
        top = max((place for place in found if label in place.values), key=lambda place: place.values[label].mean)
        parts.append(f"{label} {_range(top.values[label])} in {top.name}")
    kinds = listed([f"{kind} = {KIND_NAMES[kind]}" for kind in ATTENTION_KINDS])
    return f"{MEASURES[measure].capitalize()}, highest: {'; '.join(parts)}. ({kinds}; bars reach over the runs.)"


def _range(summary: MeanAndRange) -> str:
    if f"{summary.low:.0f}" == f"{summary.high:.0f}":
        return f"{summary.mean:.0f}"
    return f"{summary.mean:.0f} ({summary.low:.0f} to {summary.high:.0f})"
