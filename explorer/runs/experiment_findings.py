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

from explorer.locale.messages import t
from explorer.locale.text import listed, plural
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.analysis.rank_test import holm, rank_sum
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment

LEVEL = 0.05
MARGIN = 1.0  # scores closer than this (percentage or BLEU points) are called as good as each other
INTERVALS = 2  # evaluations are so far apart that a smaller difference in updates may be one of them
LOSS_FACTOR = 2.0  # a loss has to be smaller by this factor to be named
COMPARISONS = 4  # of each arm with the first one

_UNDECIDED = "is neither clearly different from {} nor clearly as good, within "
_PLURAL = {"is": "are", "has": "have", "reaches": "reach", "failed": "failed"}  # the verbs that phrases begin with

Outcome = Literal["difference", "equal", "undecided", "too few"]


@dataclass(frozen=True)
class Relation:
    """One thing that may be said of an arm beside the first one.

    `phrase` has a gap for the first arm's name; `outcome`: what it says; "too few" if these runs could say nothing.
    `own` and `first`: the numbers that it rests on, of this `measure`, None if there are none.
    """

    arm: ArmRuns
    phrase: str
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
        failed = "failed in every run" if own is None else "is not comparable with {}, whose runs all failed"
        return [scored(failed, "undecided")]
    found = []
    if score and abs(own.mean - base.mean) >= MARGIN:
        found.append(scored(f"is {'better' if own.mean > base.mean else 'worse'} than {{}}", "difference"))
    elif equal:
        found.append(scored(f"is as good as {{}}, within {arm.metric.margin(MARGIN)}", "equal"))
    steps, base_steps = mean_and_range(arm.updates()), mean_and_range(first.updates())
    if updates and steps and base_steps and abs(steps.mean - base_steps.mean) >= INTERVALS * _interval(first, arm):
        order = "fewer" if steps.mean < base_steps.mean else "more"
        phrase = f"reaches {arm.target} on validation for the first time after {order} updates than {{}}"
        found.append(Relation(arm, phrase, "difference", steps, base_steps, _whole, "updates"))
    nats, base_nats = mean_and_range(arm.losses()), mean_and_range(first.losses())
    large = nats and base_nats and max(nats.mean, base_nats.mean) >= LOSS_FACTOR * min(nats.mean, base_nats.mean)
    if loss and nats and base_nats and large and not score:
        phrase = f"has a {'lower' if nats.mean < base_nats.mean else 'higher'} loss than {{}}"
        found.append(Relation(arm, phrase, "difference", nats, base_nats, "{:#.2g}".format, "nats per token on test"))
    if found:
        return found
    undecided: Outcome = "undecided" if could else "too few"
    return [scored(_UNDECIDED + arm.metric.margin(MARGIN), undecided)]


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
        return ["There is nothing to compare yet."]
    return [_sentence(first, stated, len(others), brief=brief) for stated in _grouped(relations(arms))]


def _grouped(stated: Sequence[Relation]) -> list[list[Relation]]:
    """Collect the relations that say the same: differences first, those by the measure of the first one foremost."""
    grouped: dict[tuple[Outcome, str], list[Relation]] = {}
    for relation in stated:
        grouped.setdefault((relation.outcome, relation.phrase), []).append(relation)
    order: tuple[Outcome, ...] = ("difference", "equal", "undecided", "too few")
    measures = [each.measure for each in stated if each.outcome == "difference"]
    return sorted(
        grouped.values(), key=lambda each: (order.index(each[0].outcome), each[0].measure not in measures[:1])
    )


def headline(arms: Sequence[ArmRuns]) -> tuple[list[str], list[str]]:
    """Split the statements: those about the first kind of difference or, without any, the first one; and the others."""
    said, n_leading = statements(arms), max(1, len(_leading(arms)))
    return said[:n_leading], said[n_leading:]


def in_short(arms: Sequence[ArmRuns]) -> str:
    """State the first kind of difference, and name the arms that do not show it."""
    named = {relation.arm.label for each in _leading(arms) for relation in each}
    others = [f"'{arm.label}'" for arm in arms[1:] if arm.runs and arm.label not in named]
    rest = [t("No such difference shows for {variants}.", variants=listed(others))] if named and others else []
    return " ".join([*headline(arms)[0], *rest])


def _leading(arms: Sequence[ArmRuns]) -> list[list[Relation]]:
    """The differences by the measure of the first one, grouped; empty without a difference."""
    groups = _grouped(relations(arms)) if _any_runs(arms) else []
    differences = [each for each in groups if each[0].outcome == "difference"]
    return [each for each in differences if each[0].measure == differences[0][0].measure]


def verdict(arms: Sequence[ArmRuns]) -> str:
    """All statements, those about differences first."""
    return " ".join(statements(arms))


def measure_of(arms: Sequence[ArmRuns]) -> str:
    """The measure on validation that shows the first difference: "loss", or the one that judges the runs."""
    first = next((each for each in relations(arms) if each.outcome == "difference"), None)
    return "loss" if first and first.measure.startswith("nats") else arms[0].recipe.base.metric


def _sentence(first: ArmRuns, stated: Sequence[Relation], n_others: int, *, brief: bool) -> str:
    """State what several arms have in common beside the first one; `brief`: no numbers where they cannot tell."""
    relation, several = stated[0], len(stated) > 1
    numbers = (
        relation.first is not None
        and all(each.own for each in stated)
        and not (brief and relation.outcome == "too few")
    )
    beside = several and numbers  # each name with its number, so that nobody has to count along two lists

    def named(arm: ArmRuns, value: MeanAndRange | None) -> str:
        return f"'{arm.label}' with {value.text(relation.write)}" if beside and value else f"'{arm.label}'"

    names, base = listed(named(each.arm, each.own) for each in stated), named(first, relation.first)
    seen = ""
    if numbers and relation.own and relation.first:
        values = [] if several else [relation.own.text(relation.write), "against", relation.first.text(relation.write)]
        seen = f": {' '.join([*values, relation.measure])}, {_counts(first, stated)}"
    if relation.outcome == "too few":
        enough = f"{_enough(len(first.runs), n_others)} runs of each variant could"
        return f"These runs are too few to tell {names} from {base}{seen}; {enough}."
    verb, _, rest = relation.phrase.partition(" ")
    return f"{names} {_PLURAL[verb] if several else verb} {rest.format(base)}{seen}."


def _counts(first: ArmRuns, stated: Sequence[Relation]) -> str:
    """Say how many runs were compared: "10 runs each", or "3 runs against 10"."""
    counts = [len(each.arm.runs) for each in stated]
    if set(counts) == {len(first.runs)}:
        return f"{plural(len(first.runs), 'run')} each"
    several = len(set(counts)) > 1
    runs = f"{listed(map(str, counts))} runs" if several else f"{plural(counts[0], 'run')}{' each' * (len(counts) > 1)}"
    return f"{runs} against {len(first.runs)}"


def shared_note(arms: Sequence[ArmRuns]) -> str:
    """Say why the first arm has more runs than the others if experiments share it; empty otherwise."""
    first, *others = arms
    sharing = [other for other in EXPERIMENTS.values() if other.recipe(other.arms[0]) == first.recipe]
    if len(sharing) < 2 or all(len(arm.runs) >= len(first.runs) for arm in others):
        return ""
    return t(
        "{runs} of '{variant}' against fewer of the others: {n} experiments compare their variants with it, so it was "
        "run more often. The test allows for unequal numbers.",
        runs=plural(len(first.runs), "run"),
        variant=first.label,
        n=len(sharing),
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
    sentences += [f"'{arm.label}', seed {run.seed}: {run.error}" for arm in arms for run in arm.runs if run.error]
    return sentences + _procedure([arm for arm in arms if arm.runs])


def _missing(arms: Sequence[ArmRuns]) -> list[str]:
    """Name the arms without runs, and those with fewer than planned."""
    none = [f"'{arm.label}'" for arm in arms if not arm.runs]
    some = [
        f"'{arm.label}' has {len(arm.runs)} of {len(arm.recipe.seeds)}"
        for arm in arms
        if 0 < len(arm.runs) < len(arm.recipe.seeds)
    ]
    sentences = [f"Not run yet: {listed(none)}."] if none else []
    return [*sentences, f"Runs are missing: {listed(some)}."] if some else sentences


def _target(arm: ArmRuns) -> str:
    target = arm.metric.factor * arm.recipe.base.target
    reached = sum(score is not None and score >= target for score in arm.scores())
    updates = mean_and_range(arm.updates())
    when = f"; on validation it first reached that after {updates.text(_whole)} updates" if updates else ""
    runs = plural(len(arm.runs), "run")
    return f"The target is {arm.target} {arm.metric.name}: '{arm.label}' reaches it in {reached} of {runs}{when}."


def _procedure(arms: Sequence[ArmRuns]) -> list[str]:
    """State how differences are told from chance, over which comparisons."""
    if len(arms) < 2:
        return []
    first, *others = arms
    comparisons = COMPARISONS * len(others)
    few = (
        " With so few runs, that cannot happen: all of one variant lie above all of the other too often by chance."
        if all(relation.outcome == "too few" for relation in relations(arms))
        else ""
    )
    return [
        f"Each variant is compared with '{first.label}' by score, updates to {first.target} and loss, and by whether "
        f"scores are equal within {first.metric.margin(MARGIN)}: {comparisons} comparisons. Something is claimed if it "
        f"passes an exact rank-sum test with Holm's correction over these {comparisons}, so that an experiment whose "
        f"variants do not differ claims a difference in at most {100 * LEVEL:.0f} % of cases. It must also be large "
        f"enough: {first.metric.margin(MARGIN)} of the score, {INTERVALS} evaluations of the updates, or a loss "
        f"smaller by a factor of {LOSS_FACTOR:g}.{few} Other sizes and tasks may give other results."
    ]


def duration_sentence(arm: ArmRuns) -> str:
    """State day, machine, version of PyTorch and seconds per run of an arm that has runs."""
    run, seconds = arm.runs[0], [run.seconds for run in arm.runs]
    duration = f"{min(seconds):,.0f}" if len(seconds) == 1 else f"{min(seconds):,.0f} to {max(seconds):,.0f}"
    start = ", without what they start from" if arm.recipe.from_chain else ""
    days = sorted({run.day for run in arm.runs if run.day})
    when = f"{days[0]}: on" if len(days) == 1 else f"{days[0]} to {days[-1]}: on" if days else "On"
    return (
        f"{when} {run.machine}, PyTorch {run.torch}: {duration} seconds per run, including scoring and whatever else "
        f"the machine was doing{start}."
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}"
