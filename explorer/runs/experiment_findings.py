"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions.

Each arm is compared with the first one in four ways: by score, by the updates to the target, by the loss, and whether
the scores are equal within a margin. Each comparison has an exact rank-sum test (:mod:`model.analysis.rank_test`), and
Holm's correction over all comparisons of the experiment keeps the chance that it claims any false difference below
`LEVEL`. A difference must also be large enough to matter. Three runs of each of two arms can never claim one, since
their smallest two-sided chance is 1 in 10: such runs cannot tell, which is not the same as no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from math import inf
from typing import Literal

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import message, t, translated
from explorer.locale.text import listed
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.analysis.rank_test import holm, rank_sum
from model.experiments.recipe import Experiment

LEVEL = 0.05
MARGIN = 1.0  # scores closer than this (percentage or BLEU points) are called as good as each other
INTERVALS = 2  # evaluations are so far apart that a smaller difference in updates may be one of them
LOSS_FACTOR = 2.0  # a loss has to be smaller by this factor to be named
COMPARISONS = 4  # of each arm with the first one

Outcome = Literal["difference", "equal", "undecided", "too few"]
Claim = Literal[
    "failed",
    "incomparable",
    "better",
    "worse",
    "equal",
    "fewer updates",
    "more updates",
    "lower loss",
    "higher loss",
    "?",
]


@dataclass(frozen=True)
class Relation:
    """One thing that may be said of an arm beside the first one.

    `outcome`: what the claim says; "too few" if these runs could say nothing. `own` and `first`: the numbers that it
    rests on, of this `measure`, None if there are none.
    """

    arm: ArmRuns
    claim: Claim
    outcome: Outcome
    own: MeanAndRange | None
    first: MeanAndRange | None
    write: Callable[[float], str]
    measure: str


def relations(arms: Sequence[ArmRuns]) -> list[Relation]:
    """State how each arm that has runs differs from the first one, or that these runs cannot tell."""
    first, *others = [arm for arm in arms if arm.runs]
    raw = [chance for arm in others for chance in _comparisons(first, arm)]
    passed = [chance <= LEVEL for chance in holm(raw)]
    stated = []
    for nth, arm in enumerate(others):
        at = COMPARISONS * nth
        best = _smallest(len(first.runs), len(arm.runs))
        could = holm([*raw[:at], best, *raw[at + 1 :]])[at] <= LEVEL
        stated += _relations_of(first, arm, passed[at : at + COMPARISONS], could)
    return stated


def _smallest(first: int, other: int) -> float:
    """The smallest chance that a comparison of so many runs can have: all of one arm lie above all of the other."""
    return _two_sided([0.0] * first, [1.0] * other)


def differs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm differs from the first one by more than chance explains."""
    return _any_runs(arms) and any(relation.outcome == "difference" for relation in relations(arms))


def overall(arms: Sequence[ArmRuns]) -> Outcome:
    """What an experiment with runs shows as a whole: a difference, else that runs are too few, else what is left."""
    outcomes = [relation.outcome for relation in relations(arms)] if _any_runs(arms) else []
    order: tuple[Outcome, ...] = ("difference", "too few", "undecided", "equal")
    return next((outcome for outcome in order if outcome in outcomes), "too few")


def _any_runs(arms: Sequence[ArmRuns]) -> bool:
    return any(arm.runs for arm in arms)


def _comparisons(first: ArmRuns, arm: ArmRuns) -> tuple[float, float, float, float]:
    """The chance of each comparison: score, updates, loss, and scores that differ by the margin or more.

    A run that failed has the lowest score and the highest loss. Updates are compared if all runs reached the target.
    """
    scores, base_scores = (_or(each.scores(), -inf) for each in (arm, first))
    updates, base_updates = (_or(each.updates(), inf) for each in (arm, first))
    losses, base_losses = (_or(each.losses(), inf) for each in (arm, first))
    reached = inf not in (*updates, *base_updates)
    lower, _ = rank_sum([score + MARGIN for score in base_scores], scores)
    _, higher = rank_sum([score - MARGIN for score in base_scores], scores)
    return (
        _two_sided(base_scores, scores),
        _two_sided(base_updates, updates) if reached else 1.0,
        _two_sided(base_losses, losses),
        max(lower, higher),  # two one-sided tests (Schuirmann 1987)
    )


def _or(values: Sequence[float | None], missing: float) -> list[float]:
    return [missing if value is None else value for value in values]


def _two_sided(first: Sequence[float], other: Sequence[float]) -> float:
    return min(1.0, 2 * min(rank_sum(first, other)))


def _relations_of(first: ArmRuns, arm: ArmRuns, passed: Sequence[bool], could: bool) -> list[Relation]:
    """The relations of one arm: `passed`: which comparisons are significant, `could`: whether one could have been."""
    score, updates, loss, equal = passed
    own, base = mean_and_range(arm.scores()), mean_and_range(first.scores())
    scored = partial(
        Relation,
        arm,
        own=own,
        first=base,
        write=lambda value: arm.metric.text(round(value, 1)),
        measure=arm.metric.name,
    )
    if base is None or own is None:
        return [scored("failed" if own is None else "incomparable", "undecided")]
    found = []
    if score and abs(own.mean - base.mean) >= MARGIN:
        found.append(scored("better" if own.mean > base.mean else "worse", "difference"))
    elif equal:
        found.append(scored("equal", "equal"))
    steps, base_steps = mean_and_range(arm.updates()), mean_and_range(first.updates())
    if updates and steps and base_steps and abs(steps.mean - base_steps.mean) >= INTERVALS * _interval(first, arm):
        claim: Claim = "fewer updates" if steps.mean < base_steps.mean else "more updates"
        found.append(Relation(arm, claim, "difference", steps, base_steps, _whole, message("updates")))
    nats, base_nats = mean_and_range(arm.losses()), mean_and_range(first.losses())
    large = nats and base_nats and max(nats.mean, base_nats.mean) >= LOSS_FACTOR * min(nats.mean, base_nats.mean)
    if loss and nats and base_nats and large and not score:
        claim = "lower loss" if nats.mean < base_nats.mean else "higher loss"
        found.append(Relation(arm, claim, "difference", nats, base_nats, _nats, message("nats per token on test")))
    if found:
        return found
    undecided: Outcome = "undecided" if could else "too few"
    return [scored("?", undecided)]


def _interval(*arms: ArmRuns) -> float:
    """The largest number of updates between two evaluations."""
    steps = [run.valid["step"] for arm in arms for run in arm.runs]
    return max((later - sooner for each in steps for sooner, later in pairwise(each)), default=0.0)


def statements(arms: Sequence[ArmRuns], *, brief: bool = False) -> list[str]:
    """State which arms differ from the first one, which are as good, and what these runs cannot tell, in this order.

    Each statement has the mean and the range over the runs, and their number; with `brief`, not where they cannot tell.
    """
    first, *others = [arm for arm in arms if arm.runs] or arms
    if not others or not first.runs:
        return [t("There is nothing to compare yet.")]
    grouped: dict[tuple[Outcome, Claim, str], list[Relation]] = {}
    for relation in relations(arms):
        key = relation.outcome, relation.claim, relation.arm.target
        grouped.setdefault(key, []).append(relation)
    order: tuple[Outcome, ...] = ("difference", "equal", "undecided", "too few")
    return [
        _sentence(first, grouped[key], len(others), brief=brief)
        for key in sorted(grouped, key=lambda key: order.index(key[0]))
    ]


def verdict(arms: Sequence[ArmRuns]) -> str:
    """All statements, those about differences first."""
    return " ".join(statements(arms))


def measure_of(arms: Sequence[ArmRuns]) -> str:
    """The measure on validation that shows the first difference: "loss", or the one that judges the runs."""
    first = next((each for each in relations(arms) if each.outcome == "difference"), None)
    return "loss" if first and first.measure.startswith("nats") else arms[0].recipe.base.metric


def _said(claim: Claim, stated: Sequence[Relation], first: ArmRuns) -> str:
    """State a claim about some arms, without its numbers."""
    n, names, other = len(stated), listed(f"'{each.arm.label}'" for each in stated), first.label
    arm = stated[0].arm
    margin = arm.metric.margin(MARGIN)
    match claim:
        case "failed":
            return t("{names} failed in every run", "{names} failed in every run", n=n, names=names)
        case "incomparable":
            return t(
                "{names} is not comparable with '{first}', whose runs all failed",
                "{names} are not comparable with '{first}', whose runs all failed",
                n=n,
                names=names,
                first=other,
            )
        case "better":
            return t(
                "{names} is better than '{first}'", "{names} are better than '{first}'", n=n, names=names, first=other
            )
        case "worse":
            return t(
                "{names} is worse than '{first}'", "{names} are worse than '{first}'", n=n, names=names, first=other
            )
        case "equal":
            return t(
                "{names} is as good as '{first}', within {margin}",
                "{names} are as good as '{first}', within {margin}",
                n=n,
                names=names,
                first=other,
                margin=margin,
            )
        case "fewer updates":
            return t(
                "{names} needs fewer updates to {target} than '{first}'",
                "{names} need fewer updates to {target} than '{first}'",
                n=n,
                names=names,
                target=arm.target,
                first=other,
            )
        case "more updates":
            return t(
                "{names} needs more updates to {target} than '{first}'",
                "{names} need more updates to {target} than '{first}'",
                n=n,
                names=names,
                target=arm.target,
                first=other,
            )
        case "lower loss":
            return t(
                "{names} has a lower loss than '{first}'",
                "{names} have a lower loss than '{first}'",
                n=n,
                names=names,
                first=other,
            )
        case "higher loss":
            return t(
                "{names} has a higher loss than '{first}'",
                "{names} have a higher loss than '{first}'",
                n=n,
                names=names,
                first=other,
            )
    return t(
        "{names} is neither clearly different from '{first}' nor clearly as good, within {margin}",
        "{names} are neither clearly different from '{first}' nor clearly as good, within {margin}",
        n=n,
        names=names,
        first=other,
        margin=margin,
    )


def _sentence(first: ArmRuns, stated: Sequence[Relation], n_others: int, *, brief: bool) -> str:
    relation = stated[0]
    said = _said(relation.claim, stated, first)
    if relation.own is None or relation.first is None:
        return f"{said}."
    values = listed(each.own.text(each.write) for each in stated if each.own)
    counts = list(dict.fromkeys(len(each.arm.runs) for each in stated))
    of_first = t("{n} run", "{n:,} runs", n=len(first.runs))
    if counts == [len(first.runs)]:
        runs = t("{runs} each", runs=of_first)
    else:
        own = listed(str(n) for n in (counts if len(counts) == 1 else [len(each.arm.runs) for each in stated]))
        runs = t("{own} against {runs}", own=own, runs=of_first)
    numbers = t(
        "{values} against {first} {measure}, {runs}",
        values=values,
        first=relation.first.text(relation.write),
        measure=translated(relation.measure),
        runs=runs,
    )
    if relation.outcome != "too few":
        return f"{said}: {numbers}."
    names, enough = listed(f"'{each.arm.label}'" for each in stated), _enough(len(first.runs), n_others)
    if brief:
        return t(
            "These runs are too few to tell {names} from '{first}'; {enough} runs of each variant could.",
            names=names,
            first=first.label,
            enough=enough,
        )
    return t(
        "These runs are too few to tell {names} from '{first}': {numbers}; {enough} runs of each variant could.",
        names=names,
        first=first.label,
        numbers=numbers,
        enough=enough,
    )


def _enough(first: int, n_others: int) -> int:
    """The smallest number of runs of each arm, if the first has at least `first`, with which a difference can show."""
    tried = (n for n in count(1) if COMPARISONS * n_others * _smallest(max(n, first), n) <= LEVEL)
    return next(tried)


def findings(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[str]:
    """State what :func:`explorer.runs.experiment_arms.table` does not: missing runs, target, failures, and chance."""
    sentences = _missing(arms)
    reaching = next(arm for arm in arms if arm.arm == experiment.reaching)
    if reaching.runs:
        sentences.append(_target(reaching))
    sentences += [
        t("'{variant}', seed {seed}: {error}", variant=arm.label, seed=run.seed, error=run.error)
        for arm in arms
        for run in arm.runs
        if run.error
    ]
    return sentences + _procedure([arm for arm in arms if arm.runs])


def _missing(arms: Sequence[ArmRuns]) -> list[str]:
    """Name the arms without runs, and those with fewer than planned."""
    none = [f"'{arm.label}'" for arm in arms if not arm.runs]
    some = [
        t("'{variant}' has {runs} of {seeds}", variant=arm.label, runs=len(arm.runs), seeds=len(arm.recipe.seeds))
        for arm in arms
        if 0 < len(arm.runs) < len(arm.recipe.seeds)
    ]
    sentences = [t("Not run yet: {variants}.", variants=listed(none))] if none else []
    return [*sentences, t("Runs are missing: {variants}.", variants=listed(some))] if some else sentences


def _target(arm: ArmRuns) -> str:
    target = arm.metric.factor * arm.recipe.base.target
    reached = sum(score is not None and score >= target for score in arm.scores())
    updates = mean_and_range(arm.updates())
    runs, measure = t("{n} run", "{n:,} runs", n=len(arm.runs)), translated(arm.metric.name)
    if not updates:
        return t(
            "The target is {target} {measure}: '{variant}' reaches it in {reached} of {runs}.",
            target=arm.target,
            measure=measure,
            variant=arm.label,
            reached=reached,
            runs=runs,
        )
    return t(
        "The target is {target} {measure}: '{variant}' reaches it in {reached} of {runs}; on validation it first "
        "reached that after {updates} updates.",
        target=arm.target,
        measure=measure,
        variant=arm.label,
        reached=reached,
        runs=runs,
        updates=updates.text(_whole),
    )


def _procedure(arms: Sequence[ArmRuns]) -> list[str]:
    """State how differences are told from chance, over which comparisons."""
    if len(arms) < 2:
        return []
    first, *others = arms
    comparisons = COMPARISONS * len(others)
    said = [
        t(
            "Each variant is compared with '{first}' by score, updates to {target} and loss, and by whether scores are "
            "equal within {margin}: {n} comparisons. Something is claimed if it passes an exact rank-sum test with "
            "Holm's correction over these {n}, so that an experiment whose variants do not differ claims a difference "
            "in at most {percent:.0f} % of cases. It must also be large enough: {margin} of the score, {evaluations} "
            "evaluations of the updates, or a loss smaller by a factor of {factor:g}.",
            first=first.label,
            target=first.target,
            margin=first.metric.margin(MARGIN),
            n=comparisons,
            percent=100 * LEVEL,
            evaluations=INTERVALS,
            factor=LOSS_FACTOR,
        )
    ]
    if all(relation.outcome == "too few" for relation in relations(arms)):
        said.append(
            t(
                "With so few runs, that cannot happen: all of one variant lie above all of the other too often by "
                "chance."
            )
        )
    said.append(t("Other sizes and tasks may give other results."))
    return [" ".join(said)]


def duration_sentence(arm: ArmRuns) -> str:
    """State day, machine, version of PyTorch and seconds per run of an arm that has runs."""
    run, seconds = arm.runs[0], [run.seconds for run in arm.runs]
    low, high = _whole(min(seconds)), _whole(max(seconds))
    duration = low if len(seconds) == 1 else t("{low} to {high}", low=low, high=high)
    days = sorted({run.day for run in arm.runs if run.day})
    if not days:
        where = t("On {machine}, PyTorch {version}", machine=run.machine, version=run.torch)
    else:
        when = days[0] if len(days) == 1 else t("{low} to {high}", low=days[0], high=days[-1])
        where = t("{day}: on {machine}, PyTorch {version}", day=when, machine=run.machine, version=run.torch)
    if arm.recipe.from_chain:
        return t(
            "{where}: {duration} seconds per run, including scoring and whatever else the machine was doing, without "
            "what they start from.",
            where=where,
            duration=duration,
        )
    return t(
        "{where}: {duration} seconds per run, including scoring and whatever else the machine was doing.",
        where=where,
        duration=duration,
    )


def _whole(value: float) -> str:
    return in_digits_of(current(), f"{value:,.0f}")


def _nats(value: float) -> str:
    return in_digits_of(current(), f"{value:.2g}")
