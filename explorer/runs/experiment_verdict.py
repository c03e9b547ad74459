"""The verdict on an experiment in one line: which arms differ from the first by more than their runs do.

An arm that is ahead or behind in the mean by a point, but not so, is not told apart: there may be a difference.

Two arms differ if their ranges lie apart, or if the same one is ahead with each of at least five seeds. Were there no
difference, three runs and three would lie apart in 1 of 10 cases, and five pairs would all favour one side in 1 of 16.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.locale.text import listed
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, loss, mean_and_range
from explorer.runs.experiment_pairs import seeds_ahead

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
    first, *others = [one for one in arms if one.runs] or arms
    if not others or not first.runs:
        return "There is nothing to compare yet."
    if min(len(one.runs) for one in (first, *others)) < 2:
        return f"Not decided: with one run of a variant, {_told(first)} against {listed([_told(o) for o in others])}."
    said: dict[str, list[str]] = {}
    for one in others:
        relation, numbers = _relation(first, one)
        said.setdefault(relation, []).append(f"{_name(one)} ({numbers})" if numbers else _name(one))
    same = said.pop("", [])
    parts = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {relation.format(_name(first))}"
        for relation, names in said.items()
    ]
    if same:
        parts.append(f"{listed(same)} {'shows' if len(same) == 1 else 'show'} no difference from {_name(first)}")
    return f"{'; '.join(parts)}."


def _name(one: ArmRuns) -> str:
    return f"'{one.label}'"


def _told(one: ArmRuns) -> str:
    scores = mean_and_range(one.scores())
    return f"{_name(one)} {one.metric.shown(round(scores.mean, 1))}" if scores else f"{_name(one)} (no score)"


def _relation(first: ArmRuns, one: ArmRuns) -> tuple[str, str]:
    """How an arm differs from the first: words around the first's name, and the two numbers; or twice nothing."""
    mine, its = mean_and_range(one.scores()), mean_and_range(first.scores())
    if mine is None or its is None:
        return (_WORSE, "its runs failed") if its is not None else ("", "")
    shown = one.metric.shown
    seeds = seeds_ahead(first.by_seed(first.scores()), one.by_seed(one.scores()))
    if (_apart(mine, its) or seeds) and abs(mine.mean - its.mean) >= _POINTS:
        numbers = f"{shown(round(mine.mean, 1))} against {shown(round(its.mean, 1))}"
        each = "" if _apart(mine, its) else f", so with each of {seeds} seeds"
        return (_BETTER if mine.mean > its.mean else _WORSE), numbers + each
    updates = [mean_and_range(each.reached()) for each in (one, first)]
    if all(each is not None and each.n == len(arm.runs) for each, arm in zip(updates, (one, first), strict=True)):
        taken, wanted = updates
        assert taken is not None
        assert wanted is not None
        if _apart(taken, wanted):
            return (
                _SOONER if taken.mean < wanted.mean else _LATER
            ), f"{taken.mean:.0f} against {wanted.mean:.0f} updates"
    own, base = (mean_and_range([loss(run) for run in each.runs]) for each in (one, first))
    if own is not None and base is not None and _apart(own, base) and _times(own, base) >= 2:
        return (_SURER if own.mean < base.mean else _LESS_SURE), f"loss {own.mean:.2g} against {base.mean:.2g}"
    numbers = f"{shown(round(mine.mean, 1))} against {shown(round(its.mean, 1))}"
    if _apart(mine, its):
        return (_AHEAD if mine.mean > its.mean else _BEHIND), numbers
    if abs(mine.mean - its.mean) >= _POINTS:
        return _UNDECIDED, f"{numbers}, but the runs overlap"
    there = [each.n if each is not None else 0 for each in updates]
    if there[0] * len(first.runs) != there[1] * len(one.runs):
        counted = (f"{n} of {len(arm.runs)}" for n, arm in zip(there, (one, first), strict=True))
        return _UNDECIDED, f"{' against '.join(counted)} runs reached the target"
    return "", ""


def _apart(one: MeanAndRange, other: MeanAndRange) -> bool:
    return one.low > other.high or one.high < other.low


def _times(one: MeanAndRange, other: MeanAndRange) -> float:
    low, high = sorted((one.mean, other.mean))
    return high / low if low > 0 else float("inf")
