"""Compare the arms of an experiment with its first one, from the numbers of their stored runs; pure functions.

Each arm is compared with the first one in four ways: by score, by the updates to the target, by the loss, and whether
the scores are equal within a margin; and by its score on a further split, if the experiment has one. Each comparison
has an exact rank-sum test (:mod:`model.analysis.rank_test`), and Holm's correction over all comparisons of the
experiment keeps the chance that it claims any false difference below `LEVEL`. A difference must also be large enough
to matter. Three runs of each of two arms can never claim one, since their smallest two-sided chance is 1 in 10: such
runs cannot tell, which is not the same as no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from math import inf
from typing import Literal, get_args

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.analysis.rank_test import holm, rank_sum

LEVEL = 0.05
MARGIN = 1.0  # scores closer than this (percentage or BLEU points) are called as good as each other
INTERVALS = 2  # evaluations are so far apart that a smaller difference in updates may be one of them
LOSS_FACTOR = 2.0  # a loss has to be smaller by this factor to be named

Outcome = Literal["difference", "equal", "undecided", "too few"]
Claim = Literal[
    "failed",
    "incomparable",
    "better",
    "worse",
    "equal",
    "better beyond",
    "worse beyond",
    "fewer updates",
    "more updates",
    "lower loss",
    "higher loss",
    "?",
    "? beyond",
]
CLAIMS: tuple[Claim, ...] = get_args(Claim)  # the one that comes first is named first


@dataclass(frozen=True)
class Relation:
    """One thing that may be said of an arm beside the first one.

    `outcome`: what the claim says; "too few" if these runs could say nothing. `own` and `first`: the numbers that it
    rests on, None if there are none. What is undecided has `p`, after Holm's correction, of a difference of these
    numbers, and `p_equal` of equal scores.
    """

    arm: ArmRuns
    claim: Claim
    outcome: Outcome
    own: MeanAndRange | None
    first: MeanAndRange | None
    write: Callable[[float], str]
    p: float | None = None
    p_equal: float | None = None

    @property
    def points(self) -> float:
        """The size of a difference of scores; 0 for updates and losses, whose units do not compare with points."""
        in_points = self.claim.partition(" ")[0] in ("better", "worse")
        return abs(self.own.mean - self.first.mean) if in_points and self.own and self.first else 0.0


def relations(arms: Sequence[ArmRuns]) -> list[Relation]:
    """State how each arm that has runs differs from the first one, or that these runs cannot tell."""
    first, *others = [arm for arm in arms if arm.runs]
    raw = [chance for arm in others for chance in _comparisons(first, arm)]
    corrected = holm(raw)
    stated, each = [], comparisons(arms)
    for nth, arm in enumerate(others):
        at = each * nth
        best = _smallest(len(first.runs), len(arm.runs))
        could = holm([*raw[:at], best, *raw[at + 1 :]])[at] <= LEVEL
        stated += _relations_of(first, arm, corrected[at : at + each], could)
    return stated


def ordered(arms: Sequence[ArmRuns]) -> list[list[Relation]]:
    """Group the relations by what they claim: differences first, the largest in points before others."""
    grouped: dict[tuple[Outcome, Claim], list[Relation]] = {}
    for each in relations(arms) if any_runs(arms) else ():
        grouped.setdefault((each.outcome, each.claim), []).append(each)
    order: tuple[Outcome, ...] = ("difference", "equal", "undecided", "too few")

    def place(group: list[Relation]) -> tuple[int, float, int]:
        return order.index(group[0].outcome), -max(each.points for each in group), CLAIMS.index(group[0].claim)

    return sorted(grouped.values(), key=place)


def comparisons(arms: Sequence[ArmRuns]) -> int:
    """The number of comparisons of each arm with the first one."""
    return 5 if arms[0].also else 4


def _smallest(first: int, other: int) -> float:
    """The smallest chance that a comparison of so many runs can have: all of one arm lie above all of the other."""
    return _two_sided([0.0] * first, [1.0] * other)


def differs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm differs from the first one by more than chance explains."""
    return any_runs(arms) and any(relation.outcome == "difference" for relation in relations(arms))


def overall(arms: Sequence[ArmRuns]) -> Outcome:
    """What an experiment with runs shows as a whole: a difference, else that runs are too few, else what is left."""
    outcomes = [relation.outcome for relation in relations(arms)] if any_runs(arms) else []
    order: tuple[Outcome, ...] = ("difference", "too few", "undecided", "equal")
    return next((outcome for outcome in order if outcome in outcomes), "too few")


def any_runs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm has been run."""
    return any(arm.runs for arm in arms)


def _comparisons(first: ArmRuns, arm: ArmRuns) -> list[float]:
    """The chance of each comparison: score, updates, loss, scores that differ by the margin or more, score beyond.

    A run that failed has the lowest scores and the highest loss. Updates are compared if all runs reached the target.
    """
    scores, base_scores = (_or(each.scores(), -inf) for each in (arm, first))
    updates, base_updates = (_or(each.updates(), inf) for each in (arm, first))
    losses, base_losses = (_or(each.losses(), inf) for each in (arm, first))
    reached = inf not in (*updates, *base_updates)
    lower, _ = rank_sum([score + MARGIN for score in base_scores], scores)
    _, higher = rank_sum([score - MARGIN for score in base_scores], scores)
    chances = [
        _two_sided(base_scores, scores),
        _two_sided(base_updates, updates) if reached else 1.0,
        _two_sided(base_losses, losses),
        max(lower, higher),  # two one-sided tests (Schuirmann 1987)
    ]
    return [*chances, _two_sided(*(_or(each.beyond(), -inf) for each in (first, arm)))] if first.also else chances


def _or(values: Sequence[float | None], missing: float) -> list[float]:
    return [missing if value is None else value for value in values]


def _two_sided(first: Sequence[float], other: Sequence[float]) -> float:
    return min(1.0, 2 * min(rank_sum(first, other)))


def _relations_of(first: ArmRuns, arm: ArmRuns, corrected: Sequence[float], could: bool) -> list[Relation]:
    """The relations of one arm, from the `corrected` chances of its comparisons; whether one `could` have passed."""
    score, updates, loss, equal, *beyond = (chance <= LEVEL for chance in corrected)
    own, base = mean_and_range(arm.scores()), mean_and_range(first.scores())
    scored = partial(Relation, arm, own=own, first=base, write=arm.metric.rounded)
    if base is None or own is None:
        return [scored("failed" if own is None else "incomparable", "undecided")]
    undecided: Outcome = "undecided" if could else "too few"
    found = []
    far, base_far = mean_and_range(arm.beyond()), mean_and_range(first.beyond())
    if far and base_far:
        about = partial(Relation, arm, own=far, first=base_far, write=arm.metric.rounded)
        if beyond[0] and abs(far.mean - base_far.mean) >= MARGIN:
            found.append(about("better beyond" if far.mean > base_far.mean else "worse beyond", "difference"))
        elif not beyond[0] and could:
            found.append(about("? beyond", "undecided", p=corrected[-1]))
    apart = abs(own.mean - base.mean) >= MARGIN
    if score and apart:
        found.append(scored("better" if own.mean > base.mean else "worse", "difference"))
    elif equal:
        found.append(scored("equal", "equal"))
    else:
        found.append(scored("?", undecided, p=corrected[0], p_equal=corrected[3]))
    steps, base_steps = mean_and_range(arm.updates()), mean_and_range(first.updates())
    if updates and steps and base_steps and abs(steps.mean - base_steps.mean) >= INTERVALS * _interval(first, arm):
        claim: Claim = "fewer updates" if steps.mean < base_steps.mean else "more updates"
        found.append(Relation(arm, claim, "difference", steps, base_steps, whole))
    nats, base_nats = mean_and_range(arm.losses()), mean_and_range(first.losses())
    large = nats and base_nats and max(nats.mean, base_nats.mean) >= LOSS_FACTOR * min(nats.mean, base_nats.mean)
    if loss and nats and base_nats and large and not score:
        claim = "lower loss" if nats.mean < base_nats.mean else "higher loss"
        found.append(Relation(arm, claim, "difference", nats, base_nats, _nats))
    return found


def _interval(*arms: ArmRuns) -> float:
    """The largest number of updates between two evaluations."""
    steps = [run.valid["step"] for arm in arms for run in arm.runs]
    return max((later - sooner for each in steps for sooner, later in pairwise(each)), default=0.0)


def measure_of(arms: Sequence[ArmRuns]) -> str:
    """The measure of the result named first: "beyond", or on validation the loss or the one that judges runs."""
    first = next((group[0] for group in ordered(arms)), None)
    if first and first.claim.endswith("beyond"):
        return "beyond"
    return "loss" if first and first.claim.endswith("loss") else arms[0].recipe.base.metric


def enough(arms: Sequence[ArmRuns]) -> int:
    """The smallest number of runs of each arm, the first one with no fewer than it has, that can show a difference."""
    family = comparisons(arms) * (sum(bool(arm.runs) for arm in arms) - 1)
    return next(n for n in count(1) if family * _smallest(max(n, len(arms[0].runs)), n) <= LEVEL)


def whole(value: float) -> str:
    """Write a number without decimals, as the language does."""
    return in_digits_of(current(), f"{value:,.0f}")


def _nats(value: float) -> str:
    return t("{n} nats", n=in_digits_of(current(), f"{value:#.2g}"))
