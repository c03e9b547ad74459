"""What stored runs of an experiment show, as numbers and sentences that are computed from them; pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.experiments.recipe import Arm, Experiment, Recipe
from model.experiments.stored import RESULTS, StoredRun, read_runs


@dataclass(frozen=True)
class Metric:
    """What a run is judged by: how it is called and written."""

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
class Spread:
    """One number over several runs: mean, lowest, highest, and how many runs there are."""

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
        """What the arm is called."""
        return self.arm.label

    @property
    def metric(self) -> Metric:
        """What its runs are judged by."""
        return METRICS[self.recipe.base.metric]

    @property
    def target(self) -> str:
        """What the task asks for, with its unit."""
        return self.metric.shown(self.metric.factor * self.recipe.base.target)

    def reached(self) -> list[float | None]:
        """Updates until an evaluation on validation first came to the target, for each run; None if none did."""
        base = self.recipe.base
        return [reached_at(run, base.target, base.metric) for run in self.runs]

    def scores(self) -> list[float | None]:
        """The score on the test sentences of each run, in its unit."""
        found = [run.score(self.recipe.base.metric) for run in self.runs]
        return [None if value is None else self.metric.factor * value for value in found]


def arm_runs(experiment: Experiment, folder: Path = RESULTS) -> tuple[ArmRuns, ...]:
    """The arms of an experiment with what is stored of them.

    Raises:
        ResultError: a file cannot be used.
    """
    recipes = [(arm, experiment.recipe(arm)) for arm in experiment.arms]
    return tuple(ArmRuns(arm, recipe, read_runs(recipe, folder)) for arm, recipe in recipes)


def spread(values: Sequence[float | None]) -> Spread | None:
    """Mean and range of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return Spread(statistics.fmean(known), min(known), max(known), len(known)) if known else None


def loss(run: StoredRun) -> float | None:
    """Loss on the test sentences, in nats per target token."""
    return run.score("loss")


def reached_at(run: StoredRun, target: float, metric: str = "exact_match") -> float | None:
    """Updates until an evaluation on validation first came to the target; None if none did."""
    steps, values = run.valid["step"], run.valid[metric]
    return next((step for step, value in zip(steps, values, strict=True) if value >= target), None)


def by_length(run: StoredRun, split: str) -> dict[float, float]:
    """Exact match in % by length of the input, for tasks that group their sentences so; otherwise empty."""
    lengths = {name.split()[0]: share for name, share in run.groups.get(split, {}).items()}
    return {float(n): 100.0 * share for n, share in lengths.items()} if all(map(str.isdecimal, lengths)) else {}


def table(arms: Sequence[ArmRuns]) -> list[dict[str, Any]]:
    """A row for each arm: mean and range of its scores, and how many runs they are of."""
    rows = []
    for one in arms:
        updates = one.reached()
        rows.append(
            {
                "way": one.label,
                "runs": len(one.runs),
                **_columns(one.metric.column, spread(one.scores()), 1),
                **_columns("loss on test", spread([loss(run) for run in one.runs]), 4),
                f"runs that came to {one.target}": sum(step is not None for step in updates),
                **_columns(f"updates until {one.target}", spread(updates), 0),
                "parameters": one.runs[0].parameters if one.runs else None,
                **_columns("tokens/s", spread([run.tokens_per_s for run in one.runs]), 0),
            }
        )
    return rows


def _columns(name: str, found: Spread | None, digits: int) -> dict[str, float | None]:
    if found is None:
        return {name: None, f"{name}, lowest": None, f"{name}, highest": None}
    numbers = (found.mean, found.low, found.high)
    mean, low, high = (round(number, digits) for number in numbers)
    return {name: mean, f"{name}, lowest": low, f"{name}, highest": high}


# Sentences


def findings(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """What the stored runs show: the target, then each arm against the first; nothing that is not in the numbers."""
    said = _missing(experiment, arms)
    reaching = next(one for one in arms if one.arm == experiment.reaching)
    if reaching.runs:
        said.append(_target(reaching))
    first, *others = arms
    if first.runs:
        said += [_against(first, other) for other in others if other.runs]
        said += _failures(arms)
        said += _chance([one for one in arms if one.runs])
    return said


def _missing(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """Which arms have no runs, and which have fewer than they should."""
    wanted = len(experiment.base.seeds)
    none = [f"'{one.label}'" for one in arms if not one.runs]
    some = [f"'{one.label}' has {len(one.runs)} of {wanted}" for one in arms if 0 < len(one.runs) < wanted]
    said = [f"Not run yet: {_list(none)}."] if none else []
    return [*said, f"Runs are missing: {_list(some)}."] if some else said


def _target(one: ArmRuns) -> str:
    wanted = one.metric.factor * one.recipe.base.target
    came = sum(score is not None and score >= wanted for score in one.scores())
    updates = spread(one.reached())
    when = f"; on validation it first came to that after {_range(updates, _whole)} updates" if updates else ""
    return (
        f"The task asks for {one.target} {one.metric.name}: '{one.label}' gets there in {came} of {len(one.runs)} "
        f"runs{when}."
    )


def _against(first: ArmRuns, other: ArmRuns) -> str:
    """Another arm against the first one: score, loss and updates, each with whether the runs tell the two apart."""
    before, after = ([loss(run) for run in arm.runs] for arm in (first, other))
    parts = [
        _compared(first.metric.name, first.scores(), other.scores(), first.metric.shown, ("more", "less")),
        _compared("loss on test", before, after, _nats, ("higher", "lower")),
        _compared_updates(first, other),
    ]
    return f"'{other.label}' beside '{first.label}': {'; '.join(filter(None, parts))}."


def _compared(
    name: str,
    before: Sequence[float | None],
    after: Sequence[float | None],
    shown: Callable[[float], str],
    words: tuple[str, str],
) -> str:
    one, two = spread(before), spread(after)
    if one is None or two is None:
        return ""
    return f"{name} {_range(two, shown)} beside {_range(one, shown)} ({_apart(one, two, words)})"


def _compared_updates(first: ArmRuns, other: ArmRuns) -> str:
    one, two = spread(first.reached()), spread(other.reached())
    what = f"updates until {first.target} on validation"
    if two is None:
        return f"none of its runs came to {first.target} on validation"
    if one is None or one.n < len(first.runs) or two.n < len(other.runs):
        counts = f"{two.n} of {len(other.runs)} runs came to it"
        beside = f"{one.n if one else 0} of {len(first.runs)}"
        return f"{what}: {counts} beside {beside}"
    # What happens between two evaluations is not seen.
    every = max(run.valid["step"][0] for run in (*first.runs, *other.runs))
    apart = _apart(one, two, ("more", "fewer"))
    return f"{what}, looked at every {every:.0f}, {_range(two, _whole)} beside {_range(one, _whole)} ({apart})"


def _apart(one: Spread, two: Spread, words: tuple[str, str]) -> str:
    """Whether every run of the second lies on one side of every run of the first."""
    where = "in the one run of each" if one.n == two.n == 1 else "in every run"
    if two.low > one.high:
        return f"{words[0]} {where}"
    if two.high < one.low:
        return f"{words[1]} {where}"
    same = one.low == one.high == two.low == two.high
    return f"the same {where}" if same else "the runs overlap: not told apart"


def _failures(arms: Sequence[ArmRuns]) -> list[str]:
    return [f"'{one.label}', seed {run.seed}: {run.error}" for one in arms for run in one.runs if run.error]


def _chance(arms: Sequence[ArmRuns]) -> list[str]:
    """How easily ranges of so few runs lie apart by chance."""
    counts = {len(one.runs) for one in arms}
    if len(arms) > 1 and min(counts) == 1:
        return ["One run of a way is too few to tell a difference from chance: another seed could turn it round."]
    if len(arms) < 2 or len(counts) != 1:
        return []
    (n,) = counts
    return [
        f"With {n} runs of each way, all of one lie above all of the other by chance alone in one case of "
        f"{round(math.comb(2 * n, n) / 2):,}; nothing here says how it would be with another size or task."
    ]


def speed_words(arms: Sequence[ArmRuns]) -> str:
    """Parameters and speed of each arm that has run; empty where all have the same parameters."""
    run = [one for one in arms if one.runs]
    if len({one.runs[0].parameters for one in run}) < 2:
        return ""
    told = []
    for one in run:
        speed = spread([done.tokens_per_s for done in one.runs])
        assert speed is not None
        told.append(f"'{one.label}' {one.runs[0].parameters:,}, {_range(speed, _whole)}")
    return f"Parameters, and tokens trained on in a second of one core: {'; '.join(told)}."


def beyond_words(arms: Sequence[ArmRuns]) -> list[str]:
    """How many sentences of the other splits that were scored came out right, a sentence for each split."""
    said = []
    for split in arms[0].recipe.base.splits:
        told = []
        for one in arms:
            found = spread([run.score("exact_match", split) for run in one.runs])
            if found:
                percent = Spread(100 * found.mean, 100 * found.low, 100 * found.high, found.n)
                told.append(f"'{one.label}' {_range(percent, METRICS['exact_match'].shown)}")
        if told:
            said.append(f"Right on the split '{split}', which is unlike training: {'; '.join(told)}.")
    return said


def answers_words(arms: Sequence[ArmRuns]) -> str:
    """How many different and empty answers each arm gave to the test sentences; empty where nothing stands out.

    A model that gives the same answer to everything has not learned to read.
    """
    runs = [run for one in arms for run in one.runs]
    if all(not run.score("empty") and (run.score("exact_match") or 0) > 0.9 for run in runs):
        return ""
    told = []
    for one in arms:
        different = spread([run.score("different") for run in one.runs])
        empty = spread([run.score("empty") for run in one.runs])
        if different and empty:
            told.append(f"'{one.label}' {_range(different, _whole)} different ones, {_range(empty, _whole)} empty")
    asked = max([run.score("sentences") or 0 for run in runs], default=0)
    return f"Answers to the {asked:,.0f} test sentences: {'; '.join(told)}." if told else ""


def _range(found: Spread, shown: Callable[[float], str]) -> str:
    """Mean and range, as people write it: 57 (50–60)."""
    if found.low == found.high:
        return shown(found.mean)
    return f"{shown(found.mean)} ({shown(found.low)} to {shown(found.high)})"


def _nats(value: float) -> str:
    return f"{value:.3g}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
