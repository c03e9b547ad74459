"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions.

Each arm is compared with the first one in four ways: by score, by the updates to the target, by the loss, and whether
the scores are equal within a margin. Each comparison has an exact rank-sum test (:mod:`model.analysis.rank_test`), and
Holm's correction over all comparisons of the experiment keeps the chance that it claims any false difference below
`LEVEL`. A difference must also be large enough to matter. Three runs of each of two arms can never claim one: their
smallest two-sided chance is 1 in 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf

from explorer.locale.text import listed, plural
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from model.analysis.rank_test import holm, rank_sum
from model.experiments.recipe import Experiment

LEVEL = 0.05
MARGIN = 1.0  # scores closer than this (in % or BLEU) are called as good as each other
INTERVALS = 2  # evaluations are so far apart that a smaller difference in updates may be one of them
LOSS_FACTOR = 2.0  # a loss has to be smaller by this factor to be named
COMPARISONS = 4  # of each arm with the first one

_UNDECIDED = "is not told apart from {}"
_PLURAL = {"is": "are", "has": "have", "needs": "need", "failed": "failed"}  # the verbs that phrases begin with


@dataclass(frozen=True)
class Relation:
    """One thing that may be said of an arm beside the first one.

    `phrase` has a gap for the first arm's name; `difference`: whether it says that they differ. `own` and `first`: the
    numbers that it rests on, None if there are none.
    """

    arm: ArmRuns
    phrase: str
    difference: bool
    own: MeanAndRange | None
    first: MeanAndRange | None
    write: Callable[[float], str]


def relations(arms: Sequence[ArmRuns]) -> list[Relation]:
    """State how each arm that has runs differs from the first one, or that these runs cannot tell."""
    first, *others = [arm for arm in arms if arm.runs]
    by_arm = [_comparisons(first, arm) for arm in others]
    chances = holm([chance for comparisons in by_arm for chance in comparisons])
    stated = []
    for nth, arm in enumerate(others):
        score, updates, loss, equal = (chance <= LEVEL for chance in chances[COMPARISONS * nth :][:COMPARISONS])
        stated += _relations_of(first, arm, score=score, updates=updates, loss=loss, equal=equal)
    return stated


def differs(arms: Sequence[ArmRuns]) -> bool:
    """Whether any arm differs from the first one by more than chance explains."""
    return any(arm.runs for arm in arms) and any(relation.difference for relation in relations(arms))


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


def _relations_of(
    first: ArmRuns, arm: ArmRuns, *, score: bool, updates: bool, loss: bool, equal: bool
) -> list[Relation]:
    """The relations of one arm; the arguments say which comparisons are significant."""
    own, base = mean_and_range(arm.scores()), mean_and_range(first.scores())
    scored = partial(Relation, arm, own=own, first=base, write=lambda value: arm.metric.text(round(value, 1)))
    if base is None or own is None:
        return [
            scored(
                "failed in every run" if own is None else "is not comparable with {}, whose runs all failed",
                difference=False,
            )
        ]
    found = []
    if score and abs(own.mean - base.mean) >= MARGIN:
        found.append(scored(f"is {'better' if own.mean > base.mean else 'worse'} than {{}}", difference=True))
    elif equal:
        found.append(scored(f"is as good as {{}}, within {arm.metric.text(MARGIN)}", difference=False))
    steps, base_steps = mean_and_range(arm.updates()), mean_and_range(first.updates())
    if updates and steps and base_steps and abs(steps.mean - base_steps.mean) >= INTERVALS * _interval(first, arm):
        phrase = f"needs {'fewer' if steps.mean < base_steps.mean else 'more'} updates to {arm.target} than {{}}"
        found.append(Relation(arm, phrase, True, steps, base_steps, _whole))
    nats, base_nats = mean_and_range(arm.losses()), mean_and_range(first.losses())
    large = nats and base_nats and max(nats.mean, base_nats.mean) >= LOSS_FACTOR * min(nats.mean, base_nats.mean)
    if loss and nats and base_nats and large and not score:
        phrase = f"has a {'lower' if nats.mean < base_nats.mean else 'higher'} loss in nats than {{}}"
        found.append(Relation(arm, phrase, True, nats, base_nats, "{:.2g}".format))
    return found or [scored(_UNDECIDED, difference=False)]


def _interval(*arms: ArmRuns) -> float:
    """The largest number of updates between two evaluations."""
    steps = [run.valid["step"] for arm in arms for run in arm.runs]
    return max((later - sooner for each in steps for sooner, later in pairwise(each)), default=0.0)


def verdict(arms: Sequence[ArmRuns]) -> str:
    """State which arms differ from the first one, which are as good, and which these runs cannot tell apart.

    Each statement has the mean and the range over the runs, and their number.
    """
    first, *others = [arm for arm in arms if arm.runs] or arms
    if not others or not first.runs:
        return "There is nothing to compare yet."
    if min(len(arm.runs) for arm in (first, *others)) < 2:
        return f"Not decided: with one run of a variant, {_scored(first)} against {listed(map(_scored, others))}."
    grouped: dict[str, list[Relation]] = {}
    for relation in relations(arms):
        grouped.setdefault(relation.phrase, []).append(relation)
    order = sorted(grouped, key=lambda phrase: not grouped[phrase][0].difference)
    return " ".join(_sentence(first, phrase, grouped[phrase], len(others)) for phrase in order)


def _sentence(first: ArmRuns, phrase: str, stated: Sequence[Relation], n_others: int) -> str:
    names, relation = listed(f"'{each.arm.label}'" for each in stated), stated[0]
    verb, _, rest = phrase.partition(" ")
    said = f"{verb if len(stated) == 1 else _PLURAL[verb]} {rest}".format(f"'{first.label}'")
    if relation.own is None or relation.first is None:
        return f"{names} {said}."
    values = listed(each.own.text(each.write) for each in stated if each.own)
    counts = {len(each.arm.runs) for each in stated}
    runs = (
        f"{plural(len(first.runs), 'run')} each"
        if counts == {len(first.runs)}
        else f"{listed(str(len(each.arm.runs)) for each in stated)} against {plural(len(first.runs), 'run')}"
    )
    text = f"{names} {said}: {values} against {relation.first.text(relation.write)}"
    cannot = relation.phrase == _UNDECIDED and _too_few(first, [each.arm for each in stated], n_others)
    return f"{text}, {runs}{', too few to tell any difference' if cannot else ''}."


def _too_few(first: ArmRuns, arms: Sequence[ArmRuns], n_others: int) -> bool:
    """Whether even arms without any overlap could not be told from the first of `n_others` + 1 arms."""
    apart = [_two_sided([0.0] * len(first.runs), [1.0] * len(arm.runs)) for arm in arms]
    return bool(apart) and COMPARISONS * n_others * min(apart) > LEVEL


def _scored(arm: ArmRuns) -> str:
    scores = mean_and_range(arm.scores())
    return f"'{arm.label}' {arm.metric.text(round(scores.mean, 1)) if scores else '(no score)'}"


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
    if min(len(arm.runs) for arm in arms) == 1:
        return ["One run of a variant cannot tell a difference from chance: another seed could reverse it."]
    first, *others = arms
    comparisons = COMPARISONS * len(others)
    few = (
        " With so few runs, that cannot happen: all of one variant lie above all of the other too often by chance."
        if _too_few(first, others, len(others))
        else ""
    )
    return [
        f"Each variant is compared with '{first.label}' by score, updates to {first.target} and loss, and by whether "
        f"scores are equal within {first.metric.text(MARGIN)}: {comparisons} comparisons. Something is claimed if it "
        f"passes an exact rank-sum test with Holm's correction over these {comparisons}, so that an experiment whose "
        f"variants do not differ claims a difference in at most {100 * LEVEL:.0f} % of cases. It must also be large "
        f"enough: {first.metric.text(MARGIN)} of the score, {INTERVALS} evaluations of the updates, or a loss smaller "
        f"by a factor of {LOSS_FACTOR:g}.{few} Other sizes and tasks may give other results."
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
