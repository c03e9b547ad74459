"""The results of an experiment in sentences, computed from the numbers of its stored runs; pure functions.

Two arms differ if their ranges lie apart, or if the same one is ahead with each of at least five seeds. Were there no
difference, three runs and three would lie apart in 1 of 10 cases, and five pairs would all favour one side in 1 of 16.
An arm that is ahead or behind in the mean by a point, but not so, is not told apart: there may be a difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.locale.text import listed, plural
from explorer.runs.experiment_arms import ENOUGH, ArmRuns, mean_and_range, seeds_ahead
from model.experiments.recipe import Experiment

_POINTS = 1.0  # of two arms whose scores differ by less, in % or BLEU, speed and loss say more

_BETTER, _WORSE = "better than {}", "worse than {}"
_SOONER, _LATER = "as good as {} in the end, and sooner", "as good as {} in the end, but later"
_AHEAD, _BEHIND = "ahead of {} in every run, by less than a point", "behind {} in every run, by less than a point"
_UNDECIDED = "not told apart from {}"
_SURER, _LESS_SURE = "as often right as {}, with a lower loss", "as often right as {}, but less sure"


def verdict(arms: Sequence[ArmRuns]) -> str:
    """One line: arms that differ from the first arm by score, speed or loss, and the rest.

    Scores are compared first, then (where neither is better) the updates to the target, then the loss on test.
    """
    first, *others = [arm for arm in arms if arm.runs] or arms
    if not others or not first.runs:
        return "There is nothing to compare yet."
    if min(len(arm.runs) for arm in (first, *others)) < 2:
        return f"Not decided: with one run of a variant, {_scored(first)} against {listed(map(_scored, others))}."
    relations: dict[str, list[str]] = {}
    for arm in others:
        relation, numbers = _relation(first, arm)
        relations.setdefault(relation, []).append(f"'{arm.label}' ({numbers})" if numbers else f"'{arm.label}'")
    same = relations.pop("", [])
    name = f"'{first.label}'"
    parts = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {relation.format(name)}"
        for relation, names in relations.items()
    ]
    if same:
        parts.append(f"{listed(same)} {'shows' if len(same) == 1 else 'show'} no difference from {name}")
    return f"{'; '.join(parts)}."


def _scored(arm: ArmRuns) -> str:
    scores = mean_and_range(arm.scores())
    return f"'{arm.label}' {arm.metric.text(round(scores.mean, 1)) if scores else '(no score)'}"


def _relation(first: ArmRuns, arm: ArmRuns) -> tuple[str, str]:
    """How an arm differs from the first: words around the first's name, and the two numbers; or twice nothing."""
    mine, its = mean_and_range(arm.scores()), mean_and_range(first.scores())
    if mine is None or its is None:
        return (_WORSE, "its runs failed") if its is not None else ("", "")
    numbers = " against ".join(arm.metric.text(round(score.mean, 1)) for score in (mine, its))
    seeds, apart = seeds_ahead(first.by_seed(first.scores()), arm.by_seed(arm.scores())), mine.apart(its)
    clear = abs(mine.mean - its.mean) >= _POINTS
    if (apart or seeds) and clear:
        each = "" if apart else f", so with each of {seeds} seeds"
        return (_BETTER if mine.mean > its.mean else _WORSE), numbers + each
    mine_at, its_at = mean_and_range(arm.updates()), mean_and_range(first.updates())
    reached = [updates.n if updates else 0 for updates in (mine_at, its_at)]
    if mine_at and its_at and reached == [len(arm.runs), len(first.runs)] and mine_at.apart(its_at):
        sooner = mine_at.mean < its_at.mean
        return (_SOONER if sooner else _LATER), f"{mine_at.mean:.0f} against {its_at.mean:.0f} updates"
    own, base = mean_and_range(arm.losses()), mean_and_range(first.losses())
    if own and base and own.apart(base) and max(own.mean, base.mean) >= 2 * min(own.mean, base.mean):
        return (_SURER if own.mean < base.mean else _LESS_SURE), f"loss {own.mean:.2g} against {base.mean:.2g}"
    if apart:
        return (_AHEAD if mine.mean > its.mean else _BEHIND), numbers
    if clear:
        return _UNDECIDED, f"{numbers}, but the runs overlap"
    if reached[0] * len(first.runs) != reached[1] * len(arm.runs):
        counts = f"{reached[0]} of {len(arm.runs)} against {reached[1]} of {len(first.runs)}"
        return _UNDECIDED, f"{counts} runs reached the target"
    return "", ""


def findings(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """What :func:`explorer.runs.experiment_arms.table` does not say: missing runs, the target, failures, and chance."""
    sentences = _missing(experiment, arms)
    reaching = next(arm for arm in arms if arm.arm == experiment.reaching)
    if reaching.runs:
        sentences.append(_target(reaching))
    sentences += [f"'{arm.label}', seed {run.seed}: {run.error}" for arm in arms for run in arm.runs if run.error]
    return sentences + _chance([arm for arm in arms if arm.runs])


def _missing(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """The arms that have no runs, and those that have fewer than planned."""
    planned = len(experiment.base.seeds)
    none = [f"'{arm.label}'" for arm in arms if not arm.runs]
    some = [f"'{arm.label}' has {len(arm.runs)} of {planned}" for arm in arms if 0 < len(arm.runs) < planned]
    sentences = [f"Not run yet: {listed(none)}."] if none else []
    return [*sentences, f"Runs are missing: {listed(some)}."] if some else sentences


def _target(arm: ArmRuns) -> str:
    target = arm.metric.factor * arm.recipe.base.target
    reached = sum(score is not None and score >= target for score in arm.scores())
    updates = mean_and_range(arm.updates())
    when = f"; on validation it first reached that after {updates.text(_whole)} updates" if updates else ""
    runs = plural(len(arm.runs), "run")
    return f"The target is {arm.target} {arm.metric.name}: '{arm.label}' reaches it in {reached} of {runs}{when}."


def _chance(arms: Sequence[ArmRuns]) -> list[str]:
    """How likely it is that so few runs differ completely by chance."""
    counts = {len(arm.runs) for arm in arms}
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


def duration_sentence(arm: ArmRuns) -> str:
    """Machine, version of PyTorch and seconds per run of an arm that has been run."""
    run, seconds = arm.runs[0], [run.seconds for run in arm.runs]
    took = f"{min(seconds):,.0f}" if len(seconds) == 1 else f"{min(seconds):,.0f} to {max(seconds):,.0f}"
    others = ", without what they start from" if arm.recipe.from_chain else ""
    return (
        f"On {run.machine}, PyTorch {run.torch}: {took} seconds per run, including scoring and whatever else "
        f"the machine was doing{others}."
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}"
