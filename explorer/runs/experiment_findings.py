"""The results of an experiment in sentences, computed from the numbers of its stored runs; pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from explorer.locale.text import listed, plural
from explorer.runs.experiment_arms import METRICS, ArmRuns, MeanAndRange, loss, mean_and_range
from explorer.runs.experiment_pairs import ENOUGH, seeds_ahead
from model.experiments.recipe import Experiment


def duration_sentence(one: ArmRuns) -> str:
    """Machine, version of PyTorch and seconds per run of an arm that has been run."""
    run = one.runs[0]
    seconds = [each.seconds for each in one.runs]
    took = f"{min(seconds):,.0f}" if len(seconds) == 1 else f"{min(seconds):,.0f} to {max(seconds):,.0f}"
    others = ", without what they start from" if one.recipe.from_chain else ""
    return (
        f"On {run.machine}, PyTorch {run.torch}: {took} seconds per run, including scoring and whatever else "
        f"the machine was doing{others}."
    )


def findings(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """The results in sentences: the target, then each arm compared with the first; all from the numbers."""
    sentences = _missing(experiment, arms)
    reaching = next(one for one in arms if one.arm == experiment.reaching)
    if reaching.runs:
        sentences.append(_target(reaching))
    first, *others = arms
    if first.runs:
        sentences += [_against(first, other) for other in others if other.runs]
        sentences += _failures(arms)
        sentences += _chance([one for one in arms if one.runs])
    return sentences


def _missing(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """The arms that have no runs, and those that have fewer than planned."""
    wanted = len(experiment.base.seeds)
    none = [f"'{one.label}'" for one in arms if not one.runs]
    some = [f"'{one.label}' has {len(one.runs)} of {wanted}" for one in arms if 0 < len(one.runs) < wanted]
    sentences = [f"Not run yet: {listed(none)}."] if none else []
    return [*sentences, f"Runs are missing: {listed(some)}."] if some else sentences


def _target(one: ArmRuns) -> str:
    wanted = one.metric.factor * one.recipe.base.target
    reached = sum(score is not None and score >= wanted for score in one.scores())
    updates = mean_and_range(one.reached())
    when = f"; on validation it first reached that after {_range(updates, _whole)} updates" if updates else ""
    return (
        f"The target is {one.target} {one.metric.name}: '{one.label}' reaches it in {reached} of "
        f"{plural(len(one.runs), 'run')}{when}."
    )


def _against(first: ArmRuns, other: ArmRuns) -> str:
    """Another arm compared with the first: score, loss and updates, each with whether the runs separate the two."""
    old, new = (arm.by_seed(arm.scores()) for arm in (first, other))
    before, after = (arm.by_seed([loss(run) for run in arm.runs]) for arm in (first, other))
    parts = [
        _compared(first.metric.name, old, new, first.metric.shown, ("more", "less")),
        _compared("loss on test", before, after, _nats, ("higher", "lower")),
        _compared_updates(first, other),
    ]
    return f"'{other.label}' compared with '{first.label}': {'; '.join(filter(None, parts))}."


def _compared(
    name: str,
    before: Mapping[int, float | None],
    after: Mapping[int, float | None],
    shown: Callable[[float], str],
    words: tuple[str, str],
) -> str:
    """The values of two arms, by seed, as means with ranges, and how they compare."""
    one, two = mean_and_range(list(before.values())), mean_and_range(list(after.values()))
    if one is None or two is None:
        return ""
    said = _comparison(one, two, words)
    if seeds := seeds_ahead(before, after) if said == _OVERLAP else 0:
        said = f"the runs overlap, but with each of {seeds} seeds it is {words[0] if two.mean > one.mean else words[1]}"
    return f"{name} {_range(two, shown)} against {_range(one, shown)} ({said})"


_OVERLAP = "the runs overlap: no clear difference"


def _compared_updates(first: ArmRuns, other: ArmRuns) -> str:
    one, two = mean_and_range(first.reached()), mean_and_range(other.reached())
    if two is None:
        return f"none of its runs reached {first.target} on validation"
    if one is None or one.n < len(first.runs) or two.n < len(other.runs):
        return (
            f"{two.n} of {plural(len(other.runs), 'run')} reached {first.target} on validation, against "
            f"{one.n if one else 0} of {len(first.runs)}"
        )
    # The target may have been reached at any update since the evaluation before.
    every = max(run.valid["step"][0] for run in (*first.runs, *other.runs))
    outcome = _comparison(one, two, ("more", "fewer"))
    return (
        f"updates until {first.target} on validation (evaluated every {every:.0f} updates): {_range(two, _whole)} "
        f"against {_range(one, _whole)} ({outcome})"
    )


def _comparison(one: MeanAndRange, two: MeanAndRange, words: tuple[str, str]) -> str:
    """Whether all runs of the second lie on one side of all runs of the first."""
    where = "in the one run of each" if one.n == two.n == 1 else "in every run"
    if two.low > one.high:
        return f"{words[0]} {where}"
    if two.high < one.low:
        return f"{words[1]} {where}"
    same = one.low == one.high == two.low == two.high
    return f"the same {where}" if same else _OVERLAP


def _failures(arms: Sequence[ArmRuns]) -> list[str]:
    return [f"'{one.label}', seed {run.seed}: {run.error}" for one in arms for run in one.runs if run.error]


def _chance(arms: Sequence[ArmRuns]) -> list[str]:
    """How likely it is that so few runs differ completely by chance."""
    counts = {len(one.runs) for one in arms}
    if len(arms) > 1 and min(counts) == 1:
        return ["One run of a variant cannot tell a difference from chance: another seed could reverse it."]
    if len(arms) < 2 or len(counts) != 1:
        return []
    (n,) = counts
    pairs = f", and one is ahead with every seed in one case in {2 ** (n - 1):,}" if n >= ENOUGH else ""
    return [
        f"With {plural(n, 'run')} of each variant, all of one lie above all of the other by chance alone in one case "
        f"in {round(math.comb(2 * n, n) / 2):,}{pairs}. Other sizes and tasks may give other results."
    ]


def speed_sentence(arms: Sequence[ArmRuns]) -> str:
    """Parameters and speed of each arm that has been run; empty where all have equally many parameters."""
    run = [one for one in arms if one.runs]
    if len({one.runs[0].parameters for one in run}) < 2:
        return ""
    parts = []
    for one in run:
        speed = mean_and_range([done.tokens_per_s for done in one.runs])
        assert speed is not None
        parts.append(f"'{one.label}' {one.runs[0].parameters:,}, {_range(speed, _whole)}")
    return f"Parameters, and training tokens per second on one core: {'; '.join(parts)}."


def other_split_sentences(arms: Sequence[ArmRuns]) -> list[str]:
    """How many sentences of the other scored splits are right, with one sentence of text for each split."""
    sentences = []
    for split in arms[0].recipe.base.splits:
        parts = []
        for one in arms:
            share = mean_and_range([run.score("exact_match", split) for run in one.runs])
            if share:
                percent = MeanAndRange(100 * share.mean, 100 * share.low, 100 * share.high, share.n)
                parts.append(f"'{one.label}' {_range(percent, METRICS['exact_match'].shown)}")
        if parts:
            sentences.append(f"Right on the split '{split}', which is unlike training: {'; '.join(parts)}.")
    return sentences


def answers_sentence(arms: Sequence[ArmRuns]) -> str:
    """How many different and empty answers each arm gave to the test sentences; empty if nothing is remarkable.

    A model that gives the same answer to everything has not learned to use its input.
    """
    runs = [run for one in arms for run in one.runs]
    if all(not run.score("empty") and (run.score("exact_match") or 0) > 0.9 for run in runs):
        return ""
    parts = []
    for one in arms:
        different = mean_and_range([run.score("different") for run in one.runs])
        empty = mean_and_range([run.score("empty") for run in one.runs])
        if different and empty:
            parts.append(f"'{one.label}' {_range(different, _whole)} different, {_range(empty, _whole)} empty")
    asked = max([run.score("sentences") or 0 for run in runs], default=0)
    return f"Answers to the {asked:,.0f} test sentences: {'; '.join(parts)}." if parts else ""


def _range(summary: MeanAndRange, shown: Callable[[float], str]) -> str:
    """Mean and range: "57 (50 to 60)", or "57" if all are equal."""
    if summary.low == summary.high:
        return shown(summary.mean)
    return f"{shown(summary.mean)} ({shown(summary.low)} to {shown(summary.high)})"


def _nats(value: float) -> str:
    return f"{value:.3g}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"
