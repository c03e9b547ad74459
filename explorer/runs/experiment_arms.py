"""The arms of an experiment with their stored runs, and the results: numbers, a table, curves and samples."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from explorer.locale.messages import message, t, translated
from explorer.locale.text import fixed, most_decimals
from explorer.runs.command import TrainingOrder
from explorer.runs.settings import DEFAULTS, KINDS, Changes, value_of
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Arm, Experiment, Recipe
from model.experiments.stored import RESULTS, ResultError, StoredRun, read_runs
from model.presets import PRESETS, Preset

Curves = dict[str, list[tuple[list[float], list[float]]]]
"""The curve (x, y) of each run, by the label of its arm."""


# Settings that change what is logged, saved or scored, and not how the weights are learned.
_NO_MATTER = (
    *("seed", "log_every", "save_every", "snapshots", "snapshot_megabytes"),
    *("eval_every", "eval_sentences"),
)
_TOPICS = ("heads", "dropout", "consistency")  # several settings of one of these are one change


@dataclass(frozen=True)
class Metric:
    """The measure that judges a run: its column, factor and unit."""

    column: str
    factor: float
    unit: str

    def text(self, value: float) -> str:
        """A value with its unit."""
        return f"{fixed(value, 0 if value == round(value) else 1)}{self.unit}"

    def rounded(self, value: float) -> str:
        """A value with one decimal, and its unit; with two if it would look like all that there is."""
        return f"{fixed(value, 2 if 99.95 <= value < 100 else 1)}{self.unit}"


METRICS = {
    "exact_match": Metric(message("right on test (%)"), 100.0, " %"),
    "bleu": Metric(message("BLEU on test"), 1.0, " BLEU"),
}


@dataclass(frozen=True)
class MeanAndRange:
    """One number over several runs: mean, lowest, highest, and the number of runs."""

    mean: float
    low: float
    high: float
    n: int


def mean_and_range(values: Iterable[float | None]) -> MeanAndRange | None:
    """Compute mean and range of the values that are not None; None if there are none."""
    present = [value for value in values if value is not None]
    return MeanAndRange(statistics.fmean(present), min(present), max(present), len(present)) if present else None


@dataclass(frozen=True)
class ArmRuns:
    """The stored runs of one arm, by seed; empty if it has not been run. `also`: the experiment's further split."""

    arm: Arm
    recipe: Recipe
    runs: tuple[StoredRun, ...]
    also: str = ""

    @property
    def label(self) -> str:
        """The name of the arm."""
        return translated(self.arm.label)

    @property
    def metric(self) -> Metric:
        """The measure that judges its runs."""
        return METRICS[self.recipe.base.metric]

    @property
    def target(self) -> str:
        """The target of the task, with its unit."""
        return self.metric.text(self.metric.factor * self.recipe.base.target)

    def updates(self) -> list[float | None]:
        """By run, the updates until an evaluation on validation first reached the target; None if none did."""
        base = self.recipe.base
        return [reached_at(run, base.target, base.metric) for run in self.runs]

    def scores(self) -> list[float | None]:
        """The score on the test sentences of each run, in its unit."""
        values = [run.score(self.recipe.base.metric) for run in self.runs]
        return [None if value is None else self.metric.factor * value for value in values]

    def beyond(self) -> list[float | None]:
        """The share of the further split that each run has right, in percent."""
        shares = [run.score("exact_match", self.also) if self.also else None for run in self.runs]
        return [None if share is None else 100.0 * share for share in shares]

    def changes_several(self, first: ArmRuns) -> bool:
        """Whether it differs from the first arm in more than one thing; an architecture is one, as is a topic."""
        changed = set(self.arm.changes.split()) ^ set(first.arm.changes.split())
        topics = {next((topic for topic in _TOPICS if topic in change), change) for change in changed}
        if self.arm.preset:
            return self.recipe.rate != first.recipe.rate
        return len(topics) > 1

    def losses(self) -> list[float | None]:
        """The loss on the test sentences of each run, in nats per target token."""
        return [run.score("loss") for run in self.runs]


def arm_runs(experiment: Experiment, folder: Path = RESULTS) -> tuple[ArmRuns, ...]:
    """Read the arms of an experiment with their stored runs.

    Raises:
        ResultError: a file cannot be used.
    """
    recipes = [(arm, experiment.recipe(arm)) for arm in experiment.arms]
    return tuple(ArmRuns(arm, recipe, read_runs(recipe, folder), experiment.also) for arm, recipe in recipes)


@lru_cache(maxsize=64)
def _stored(task: str, settings: frozenset[tuple[str, Any]]) -> ArmRuns | None:
    """The stored runs of an experiment on a task with these settings, apart from seed and logging."""
    for experiment in EXPERIMENTS.values():
        for arm in experiment.arms:
            recipe = experiment.recipe(arm)
            plain = recipe.base.task == task and not recipe.base.start and not recipe.added
            if plain and settings == _effective(PRESETS[recipe.preset], tuple(recipe.settings.items())):
                try:
                    return ArmRuns(arm, recipe, read_runs(recipe), experiment.also)
                except ResultError:  # a damaged file, of which the page Experiments says what is wrong
                    return None
    return None


def _effective(preset: Preset, changes: Changes) -> frozenset[tuple[str, Any]]:
    """The settings that a preset and changes to it differ in from the defaults, without those of seed and logging."""
    given = {name: value_of(KINDS[name], text) for name, text in changes}
    settings = {**preset.model, **preset.training, **given}
    return frozenset(
        item for item in settings.items() if item[0] not in _NO_MATTER and item[1] != DEFAULTS.get(item[0])
    )


def expected_sentence(order: TrainingOrder, preset: Preset) -> str:
    """What runs of the experiments with the settings of this order reached; empty if there are none."""
    if order.init or order.data:
        return ""
    arm = _stored(order.task, _effective(preset, order.changes))
    scores = mean_and_range(arm.scores()) if arm else None
    if arm is None or scores is None or scores.n < 2:
        return ""
    score, low, high = map(arm.metric.rounded, (scores.mean, scores.low, scores.high))
    return t(
        "What to expect after {updates:,} updates: {score} ({low} to {high}) {measure}, the mean and range of {n} runs "
        "of the experiments.",
        updates=arm.recipe.steps,
        score=score,
        low=low,
        high=high,
        measure=t("right on test") if arm.metric is METRICS["exact_match"] else t("on test"),
        n=scores.n,
    )


def reached_at(run: StoredRun, target: float, metric: str = "exact_match") -> float | None:
    """Updates until an evaluation on validation first reached the target; None if none did."""
    steps, values = run.valid["step"], run.valid[metric]
    return next((step for step, value in zip(steps, values, strict=True) if value >= target), None)


def by_length(run: StoredRun, split: str) -> dict[float, float]:
    """Exact match in % by length of the input, for tasks whose sentences are grouped by length; otherwise empty."""
    lengths = {name.split()[0]: share for name, share in run.groups.get(split, {}).items()}
    return {float(n): 100.0 * share for n, share in lengths.items()} if all(map(str.isdecimal, lengths)) else {}


def table(arms: Sequence[ArmRuns]) -> list[dict[str, Any]]:
    """One table row per arm: mean and range of its scores, and the number of runs."""
    return [
        {
            t("variant"): arm.label,
            t("runs"): len(arm.runs),
            **_columns(translated(arm.metric.column), arm.scores(), 1),
            **_columns(t("loss on test"), arm.losses(), 4),
            **_split_columns(arm),
            t("runs that reached {target}", target=arm.target): sum(step is not None for step in arm.updates()),
            **_columns(t("updates until {target}", target=arm.target), arm.updates(), 0),
            **_columns(t("different answers"), [run.score("different") for run in arm.runs], 0),
            **_columns(t("empty answers"), [run.score("empty") for run in arm.runs], 0),
        }
        for arm in arms
    ]


def _split_columns(arm: ArmRuns) -> dict[str, float | None]:
    """The scores on the additional splits, in percent."""
    columns: dict[str, float | None] = {}
    for split in arm.recipe.base.splits:
        shares = [run.score("exact_match", split) for run in arm.runs]
        columns |= _columns(t("right on {split} (%)", split=split), [share and 100.0 * share for share in shares], 1)
    return columns


def _columns(name: str, values: Sequence[float | None], digits: int) -> dict[str, float | None]:
    summary = mean_and_range(values)
    numbers = (None,) * 3 if summary is None else (summary.mean, summary.low, summary.high)
    return {key: value and round(value, digits) for key, value in zip(range_columns(name), numbers, strict=True)}


def range_columns(name: str) -> tuple[str, str, str]:
    """The columns of a mean and of the lowest and the highest run."""
    return name, t("{name}, lowest", name=name), t("{name}, highest", name=name)


def with_ranges(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with mean, lowest and highest run in one cell: "99.6 (98.6 to 99.9)"."""
    names = dict.fromkeys(name for row in rows for name in row)
    ranges = {name: columns for name in names if (columns := range_columns(name))[1] in names}
    ends = {column for columns in ranges.values() for column in columns[1:]}
    decimals = {name: most_decimals(row.get(of) for row in rows for of in ranges[name]) or 0 for name in ranges}

    def cell(row: Mapping[str, Any], name: str) -> Any:
        if name not in ranges or row.get(name) is None:
            return row.get(name)
        mean, low, high = (fixed(row[of], decimals[name]) for of in ranges[name])
        return mean if low == high else t("{number} ({low} to {high})", number=mean, low=low, high=high)

    return [{name: cell(row, name) for name in names if name not in ends} for row in rows]


def validation_curves(arms: Sequence[ArmRuns], measure: str) -> Curves:
    """One measure on validation over the updates; exact match in percent. Arms without runs are left out."""
    factor = 100.0 if measure == "exact_match" else 1.0
    return {
        arm.label: [(list(run.valid["step"]), [factor * value for value in run.valid[measure]]) for run in arm.runs]
        for arm in arms
        if arm.runs
    }


def length_curves(arms: Sequence[ArmRuns]) -> tuple[Curves, float]:
    """Exact match in percent by length of the input over all splits, and the greatest length of the split `test`."""
    curves: Curves = {}
    for arm in arms:
        for run in arm.runs:
            shares = {length: share for split in run.groups for length, share in by_length(run, split).items()}
            lengths = sorted(shares)
            curves.setdefault(arm.label, []).append((lengths, [shares[length] for length in lengths]))
    tested = [length for arm in arms for run in arm.runs for length in by_length(run, "test")]
    return curves, max(tested, default=0.0)


def sample_rows(arms: Sequence[ArmRuns]) -> list[dict[str, Any]]:
    """The answers of each arm's first run to a few test sentences."""
    return [
        {
            t("variant"): arm.label,
            t("source"): source,
            t("right answer"): right,
            t("its answer"): answer,
            t("right"): answer == right,
        }
        for arm in arms
        for source, right, answer in (arm.runs[0].samples if arm.runs else ())
    ]
