"""The arms of an experiment with their stored runs, and what these measured: numbers, a table, curves and samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.experiments.recipe import Arm, Experiment, Recipe
from model.experiments.stored import RESULTS, StoredRun, read_runs


@dataclass(frozen=True)
class Metric:
    """The measure that judges a run: its name, column, factor and unit."""

    name: str
    column: str
    factor: float
    unit: str

    def shown(self, value: float) -> str:
        """A value with its unit."""
        return f"{value:.4g}{self.unit}" if value == round(value) else f"{value:.1f}{self.unit}"


METRICS = {
    "exact_match": Metric("right on test", "right on test (%)", 100.0, " %"),
    "bleu": Metric("BLEU on test", "BLEU on test", 1.0, ""),
}


@dataclass(frozen=True)
class MeanAndRange:
    """One number over several runs: mean, lowest, highest, and the number of runs."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class ArmRuns:
    """The stored runs of one arm, by seed; none where it has not been run."""

    arm: Arm
    recipe: Recipe
    runs: tuple[StoredRun, ...]

    @property
    def label(self) -> str:
        """The name of the arm."""
        return self.arm.label

    @property
    def metric(self) -> Metric:
        """The measure that judges its runs."""
        return METRICS[self.recipe.base.metric]

    @property
    def target(self) -> str:
        """The target of the task, with its unit."""
        return self.metric.shown(self.metric.factor * self.recipe.base.target)

    def reached(self) -> list[float | None]:
        """For each run, the updates until an evaluation on validation first reached the target; None if none did."""
        base = self.recipe.base
        return [reached_at(run, base.target, base.metric) for run in self.runs]

    def scores(self) -> list[float | None]:
        """The score on the test sentences of each run, in its unit."""
        values = [run.score(self.recipe.base.metric) for run in self.runs]
        return [None if value is None else self.metric.factor * value for value in values]

    def by_seed(self, values: Sequence[float | None]) -> dict[int, float | None]:
        """Values in the order of the runs, by the runs' seeds."""
        return dict(zip([run.seed for run in self.runs], values, strict=True))


def arm_runs(experiment: Experiment, folder: Path = RESULTS) -> tuple[ArmRuns, ...]:
    """The arms of an experiment with their stored runs.

    Raises:
        ResultError: a file cannot be used.
    """
    recipes = [(arm, experiment.recipe(arm)) for arm in experiment.arms]
    return tuple(ArmRuns(arm, recipe, read_runs(recipe, folder)) for arm, recipe in recipes)


def mean_and_range(values: Sequence[float | None]) -> MeanAndRange | None:
    """Mean and range of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return MeanAndRange(statistics.fmean(known), min(known), max(known), len(known)) if known else None


def loss(run: StoredRun) -> float | None:
    """Loss on the test sentences, in nats per target token."""
    return run.score("loss")


def reached_at(run: StoredRun, target: float, metric: str = "exact_match") -> float | None:
    """Updates until an evaluation on validation first reached the target; None if none did."""
    steps, values = run.valid["step"], run.valid[metric]
    return next((step for step, value in zip(steps, values, strict=True) if value >= target), None)


def by_length(run: StoredRun, split: str) -> dict[float, float]:
    """Exact match in % by length of the input, for tasks whose sentences are grouped by length; otherwise empty."""
    lengths = {name.split()[0]: share for name, share in run.groups.get(split, {}).items()}
    return {float(n): 100.0 * share for n, share in lengths.items()} if all(map(str.isdecimal, lengths)) else {}


def table(arms: Sequence[ArmRuns]) -> list[dict[str, Any]]:
    """A row for each arm: mean and range of its scores, and the number of runs."""
    rows = []
    for one in arms:
        updates = one.reached()
        rows.append(
            {
                "variant": one.label,
                "runs": len(one.runs),
                **_columns(one.metric.column, mean_and_range(one.scores()), 1),
                **_columns("loss on test", mean_and_range([loss(run) for run in one.runs]), 4),
                f"runs that reached {one.target}": sum(step is not None for step in updates),
                **_columns(f"updates until {one.target}", mean_and_range(updates), 0),
                "parameters": one.runs[0].parameters if one.runs else None,
                **_columns("tokens/s", mean_and_range([run.tokens_per_s for run in one.runs]), 0),
            }
        )
    return rows


def _columns(name: str, summary: MeanAndRange | None, digits: int) -> dict[str, float | None]:
    if summary is None:
        return {name: None, f"{name}, lowest": None, f"{name}, highest": None}
    numbers = (summary.mean, summary.low, summary.high)
    mean, low, high = (round(number, digits) for number in numbers)
    return {name: mean, f"{name}, lowest": low, f"{name}, highest": high}


Curves = dict[str, list[tuple[list[float], list[float]]]]
"""The curve (x, y) of each run, by the label of its arm."""


def validation_curves(arms: Sequence[ArmRuns], measure: str) -> Curves:
    """One measure on validation over the updates; exact match in percent. Arms without runs are left out."""
    factor = 100.0 if measure == "exact_match" else 1.0
    return {
        one.label: [(list(run.valid["step"]), [factor * value for value in run.valid[measure]]) for run in one.runs]
        for one in arms
        if one.runs
    }


def length_curves(arms: Sequence[ArmRuns]) -> tuple[Curves, float]:
    """Exact match in percent by length of the input over all splits, and the greatest length of the split `test`."""
    curves: Curves = {}
    longest = 0.0
    for one in arms:
        for run in one.runs:
            shares = {length: share for split in run.groups for length, share in by_length(run, split).items()}
            longest = max([longest, *by_length(run, "test")])
            lengths = sorted(shares)
            curves.setdefault(one.label, []).append((lengths, [shares[length] for length in lengths]))
    return curves, longest


def sample_rows(arms: Sequence[ArmRuns]) -> list[dict[str, Any]]:
    """The answers of each arm's first run to a few test sentences."""
    return [
        {
            "variant": one.label,
            "source": source,
            "right answer": wanted,
            "its answer": answer,
            "right": answer == wanted,
        }
        for one in arms
        for source, wanted, answer in (one.runs[0].samples if one.runs else ())
    ]
