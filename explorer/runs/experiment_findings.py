"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions.

Two arms differ if their ranges do not overlap, or if the same one is ahead with each of at least five seeds. By chance
alone, the ranges of three runs each would not overlap in 1 of 10 cases, and five pairs would all favour one side in 1
of 16. If neither holds but the means differ by a point or more, the arms are "not told apart": there may be a
difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.locale.text import listed, plural
from explorer.runs.experiment_arms import ENOUGH, ArmRuns, mean_and_range, seeds_ahead
from model.experiments.recipe import Experiment

_POINTS = 1.0  # if scores differ by less than this (in % or BLEU), speed and loss are compared instead

_BETTER, _WORSE = "better than {}", "worse than {}"
_SOONER, _LATER = "as good as {} in the end, and sooner", "as good as {} in the end, but later"
_AHEAD, _BEHIND = "ahead of {} in every run, by less than a point", "behind {} in every run, by less than a point"
_UNDECIDED = "not told apart from {}"
_SURER, _LESS_SURE = "as often right as {}, with a lower loss", "as often right as {}, but less sure"


def verdict(arms: Sequence[ArmRuns]) -> str:
    """State in one line which arms differ from the first arm by score, speed or loss, and which do not.

    Scores are compared first, then (if neither is better) the updates to the target, then the loss on test.
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


def differs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm differs from the first one by more than chance explains."""
    first, *others = [arm for arm in arms if arm.runs] or arms
    decided = first.runs and others and min(len(arm.runs) for arm in (first, *others)) > 1
    return bool(decided) and any(_relation(first, arm)[0] not in ("", _UNDECIDED) for arm in others)


def _scored(arm: ArmRuns) -> str:
    scores = mean_and_range(arm.scores())
    return f"'{arm.label}' {arm.metric.text(round(scores.mean, 1)) if scores else '(no score)'}"


def _relation(first: ArmRuns, arm: ArmRuns) -> tuple[str, str]:
    """How an arm differs from the first: a phrase with a gap for the first's name, and the numbers."""
    score, base_score = mean_and_range(arm.scores()), mean_and_range(first.scores())
    if score is None or base_score is None:
        return (_WORSE, "its runs failed") if base_score is not None else ("", "")
    numbers = " against ".join(arm.metric.text(round(score.mean, 1)) for score in (score, base_score))
    seeds, apart = seeds_ahead(first.by_seed(first.scores()), arm.by_seed(arm.scores())), score.apart(base_score)
    clear = abs(score.mean - base_score.mean) >= _POINTS
    if (apart or seeds) and clear:
        each = "" if apart else f", so with each of {seeds} seeds"
        return (_BETTER if score.mean > base_score.mean else _WORSE), numbers + each
    updates, base_updates = mean_and_range(arm.updates()), mean_and_range(first.updates())
    reached = [updates.n if updates else 0 for updates in (updates, base_updates)]
    if updates and base_updates and reached == [len(arm.runs), len(first.runs)] and updates.apart(base_updates):
        sooner = updates.mean < base_updates.mean
        return (_SOONER if sooner else _LATER), f"{updates.mean:.0f} against {base_updates.mean:.0f} updates"
    loss, base_loss = mean_and_range(arm.losses()), mean_and_range(first.losses())
    if (
        loss
        and base_loss
        and loss.apart(base_loss)
        and max(loss.mean, base_loss.mean) >= 2 * min(loss.mean, base_loss.mean)
    ):
        return (
            _SURER if loss.mean < base_loss.mean else _LESS_SURE
        ), f"loss {loss.mean:.2g} against {base_loss.mean:.2g}"
    if apart:
        return (_AHEAD if score.mean > base_score.mean else _BEHIND), numbers
    if clear:
        return _UNDECIDED, f"{numbers}, but the runs overlap"
    if reached[0] * len(first.runs) != reached[1] * len(arm.runs):
        counts = f"{reached[0]} of {len(arm.runs)} against {reached[1]} of {len(first.runs)}"
        return _UNDECIDED, f"{counts} runs reached the target"
    return "", ""


def findings(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """State what :func:`explorer.runs.experiment_arms.table` does not: missing runs, target, failures, and chance."""
    sentences = _missing(experiment, arms)
    reaching = next(arm for arm in arms if arm.arm == experiment.reaching)
    if reaching.runs:
        sentences.append(_target(reaching))
    sentences += [f"'{arm.label}', seed {run.seed}: {run.error}" for arm in arms for run in arm.runs if run.error]
    return sentences + _chance([arm for arm in arms if arm.runs])


def _missing(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """Name the arms without runs, and those with fewer than planned."""
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
    """State how likely it is that so few runs differ completely by chance."""
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
    """State machine, version of PyTorch and seconds per run of an arm that has runs."""
    run, seconds = arm.runs[0], [run.seconds for run in arm.runs]
    duration = f"{min(seconds):,.0f}" if len(seconds) == 1 else f"{min(seconds):,.0f} to {max(seconds):,.0f}"
    start = ", without what they start from" if arm.recipe.from_chain else ""
    return (
        f"On {run.machine}, PyTorch {run.torch}: {duration} seconds per run, including scoring and whatever else "
        f"the machine was doing{start}."
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}"
