"""Compare the arms of an experiment with its first one, from the numbers of their stored runs; pure functions.

Each arm is compared with the first one by its score, the updates to the target and the loss; and by its score beyond
the trained lengths, if the experiment has such a split. Each comparison is a shift with an exact interval
(:mod:`model.analysis.rank_test`), whose level is divided by the number of comparisons in the experiment (Bonferroni):
the chance that any of them misses its shift stays below `LEVEL`. The verdict is read from the interval: a difference if
it leaves out 0 and the shift is at least the margin, equality if it lies within the margin; "above" or "below" if it
leaves out 0 and the shift is smaller, so that only the direction is decided. Three runs of each of two
arms have no such interval: they cannot tell, which is not the same as no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from math import exp, inf, isinf, log, nan
from statistics import median
from typing import Literal

from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.analysis.rank_test import shift_interval
from model.experiments.recipe import Yes

LEVEL = 0.05
MARGIN = 1.0  # scores closer than this (percentage or BLEU points) are called as good as each other
INTERVALS = 2  # evaluations are so far apart that a smaller difference in updates may be one of them
LOSS_FACTOR = 2.0  # a loss has to be smaller by this factor to be named

MeasureName = Literal["score", "beyond", "updates", "loss"]
Verdict = Literal["higher", "lower", "above", "below", "same", "undecided", "too few", "not compared"]
Outcome = Literal["difference", "equal", "undecided", "too few", "nothing"]

SCORES: tuple[MeasureName, ...] = ("score", "beyond")
# By the verdict that says yes to a question: those that do, and those that say no if every arm has one of them.
_REPLIES: dict[Yes, tuple[set[Verdict], set[Verdict]]] = {
    "": (set(), set()),
    "lower": ({"lower"}, {"same", "higher", "above"}),
    "higher": ({"higher"}, {"same", "lower", "below"}),
    "either": ({"lower", "higher"}, {"same"}),
}


@dataclass(frozen=True)
class Comparison:
    """An arm beside the first one by one measure: the shift with its interval (of a loss, factors), and the verdict.

    `mean` is over the runs that have a value. Without a value of every run there is no shift (NaN).
    """

    arm: ArmRuns
    mean: MeanAndRange | None
    shift: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True)
class Compared:
    """All arms beside the first one by one measure; `margin` is the largest shift that counts as none."""

    measure: MeasureName
    first: ArmRuns
    mean: MeanAndRange | None
    margin: float
    rows: tuple[Comparison, ...]

    @property
    def differs(self) -> bool:
        """Whether any arm differs from the first one."""
        return any(row.verdict in ("higher", "lower") for row in self.rows)

    @property
    def has_intervals(self) -> bool:
        """Whether any arm has a shift with an interval."""
        return any(row.verdict not in ("too few", "not compared") for row in self.rows)


def compared(arms: Sequence[ArmRuns]) -> list[Compared]:
    """Compare every arm that has runs with the first of them; nothing if there are none."""
    if sum(bool(arm.runs) for arm in arms) < 2:
        return []
    first, *others = [arm for arm in arms if arm.runs]
    level = LEVEL / (len(others) * len(_measures(first)))
    found = []
    for measure in _measures(first):
        margin = _margin(measure, (first, *others))
        rows = tuple(_comparison(measure, first, arm, margin, level) for arm in others)
        found.append(Compared(measure, first, mean_and_range(_values(measure, first)), margin, rows))
    return found


def _measures(first: ArmRuns) -> tuple[MeasureName, ...]:
    return ("score", "beyond", "updates", "loss") if first.also else ("score", "updates", "loss")


def _values(measure: MeasureName, arm: ArmRuns) -> list[float | None]:
    """The value of each run; one that failed has no answer right."""
    if measure == "updates":
        return arm.updates()
    if measure == "loss":
        return arm.losses()
    return [0.0 if value is None else value for value in (arm.beyond() if measure == "beyond" else arm.scores())]


def _margin(measure: MeasureName, arms: Sequence[ArmRuns]) -> float:
    if measure != "updates":
        return LOSS_FACTOR if measure == "loss" else MARGIN
    steps = [run.valid["step"] for arm in arms for run in arm.runs]
    return INTERVALS * max((later - sooner for each in steps for sooner, later in pairwise(each)), default=0.0)


def _comparison(measure: MeasureName, first: ArmRuns, arm: ArmRuns, margin: float, level: float) -> Comparison:
    own, base = ([value for value in _values(measure, each) if value is not None] for each in (arm, first))
    mean = mean_and_range(own)
    if len(own) < len(arm.runs) or len(base) < len(first.runs):
        return Comparison(arm, mean, nan, nan, nan, "not compared")
    if measure == "loss":
        own, base, limit = [log(value) for value in own], [log(value) for value in base], log(margin)
    else:
        limit = margin
    shift, low, high = shift_interval(base, own, level)
    verdict = _verdict(shift, low, high, limit)
    if measure == "loss":
        shift, low, high = exp(shift), exp(low), exp(high)
    return Comparison(arm, mean, shift, low, high, verdict)


def _verdict(shift: float, low: float, high: float, margin: float) -> Verdict:
    if isinf(low):
        return "too few"
    if abs(shift) >= margin and (low > 0 or high < 0):
        return "higher" if shift > 0 else "lower"
    if -margin <= low and high <= margin:
        return "same"
    return "above" if low > 0 else "below" if high < 0 else "undecided"


def comparisons(arms: Sequence[ArmRuns]) -> int:
    """The number of comparisons in the experiment."""
    return sum(len(each.rows) for each in compared(arms))


def differs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm differs from the first one by more than chance explains."""
    return any(each.differs for each in compared(arms))


def overall(measures: Sequence[Compared]) -> Outcome:
    """What an experiment shows as a whole: a difference, else what its scores leave open, else equal scores.

    "nothing": fewer than two arms have runs.
    """
    verdicts = _on_scores(measures)
    if any(each.differs for each in measures):
        return "difference"
    if "too few" in verdicts:
        return "too few"
    if {"above", "below", "undecided"} & {*verdicts}:
        return "undecided"
    return "equal" if verdicts else "nothing"


def beside_first(what: Compared, arm: ArmRuns) -> list[float]:
    """By how much each run of an arm differs from the median run of the first one; of a loss, by which factor."""
    own, first = ([value for value in _values(what.measure, each) if value is not None] for each in (arm, what.first))
    if not first:
        return []
    return [value / median(first) if what.measure == "loss" else value - median(first) for value in own]


def replies(yes: Yes, measures: Sequence[Compared]) -> bool | None:
    """Whether the scores reply yes or no to a question, by the verdict that says yes; None if they leave it open.

    No needs a verdict on every arm: as good as the first one or, unless "either" is yes, on the other side of it.
    """
    verdicts = _on_scores(measures)
    says_yes, says_no = _REPLIES[yes]
    if says_yes & {*verdicts}:
        return True
    return False if verdicts and says_no >= {*verdicts} else None


def _on_scores(measures: Sequence[Compared]) -> list[Verdict]:
    return [row.verdict for each in measures if each.measure in SCORES for row in each.rows]


def leading(measures: Sequence[Compared]) -> list[Compared]:
    """What is drawn at a glance: the scores by which arms differ or, without any, the first other such measure."""
    different = [each for each in measures if each.differs]
    return [each for each in different if each.measure in SCORES] or different[:1]


def enough(arms: Sequence[ArmRuns]) -> int:
    """The smallest number of runs of each arm, the first one with no fewer than it has, that can show a difference."""
    level = LEVEL / comparisons(arms)
    runs = len(next(arm for arm in arms if arm.runs).runs)
    return next(n for n in count(1) if shift_interval([0.0] * max(n, runs), [0.0] * n, level)[1] > -inf)
