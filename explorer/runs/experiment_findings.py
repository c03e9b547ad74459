"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.locale.messages import t, translated
from explorer.locale.text import listed, quoted
from explorer.runs.experiment_arms import METRICS, ArmRuns, MeanAndRange, mean_and_range
from explorer.runs.experiment_relations import (
    COMPARISONS,
    LEVEL,
    MARGIN,
    Claim,
    Outcome,
    Relation,
    any_runs,
    enough,
    relations,
    whole,
)
from model.data import get_task
from model.experiments.recipe import Experiment


def statements(arms: Sequence[ArmRuns]) -> list[str]:
    """State which arms differ from the first one, which are as good, and what these runs cannot tell, in this order.

    Each statement has the mean and the range over the runs, and their number.
    """
    first, *others = [arm for arm in arms if arm.runs] or arms
    if not others or not first.runs:
        return [t("There is nothing to compare yet.")]
    return [_sentence(first, stated, len(others)) for stated in _grouped(relations(arms))]


def _grouped(stated: Sequence[Relation]) -> list[list[Relation]]:
    """Collect the relations that say the same: differences first, those by the measure of the first one foremost."""
    grouped: dict[tuple[Outcome, Claim], list[Relation]] = {}
    for relation in stated:
        grouped.setdefault((relation.outcome, relation.claim), []).append(relation)
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
    """State the first kind of difference, then which arms are equal by score or do not differ, with their numbers."""
    leading = _leading(arms)
    named = {relation.arm.label for each in leading for relation in each}
    others = [
        [relation for relation in each if relation.arm.label not in named or relation.claim == "equal"]
        for each in _grouped(relations(arms))
    ]
    rest = [_sentence(arms[0], each, len(arms) - 1) for each in others if each and leading]
    return " ".join([*headline(arms)[0], *rest])


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common: data, updates, parameters, test sentences, and the test."""
    runs = [run for arm in arms for run in arm.runs if run.valid["step"]]
    return t(
        "{data}; {updates} updates, {parameters} parameters, {n} test sentences. {comparisons} comparisons by an exact "
        "rank-sum test, {percent:.0f} % after Holm's correction.",
        data=translated(get_task(arms[0].recipe.base.task).title),
        updates=_from_to(run.valid["step"][-1] for run in runs),
        parameters=_from_to(run.parameters for run in runs),
        n=whole(max(run.score("sentences") or 0 for run in runs)),
        comparisons=COMPARISONS * (sum(bool(arm.runs) for arm in arms) - 1),
        percent=100 * LEVEL,
    )


def _from_to(values: Iterable[float]) -> str:
    ordered = sorted(values)
    low, high = whole(ordered[0]), whole(ordered[-1])
    return low if low == high else t("{low} to {high}", low=low, high=high)


def too_few(arms: Sequence[ArmRuns]) -> str:
    """State how many runs there are and how many could tell."""
    counts = sorted({len(arm.runs) for arm in arms if arm.runs})
    few, many = counts[0], counts[-1]
    runs = t("{n} run", "{n:,} runs", n=few) if few == many else t("{few} to {many} runs", few=few, many=many)
    return t(
        "{runs} of each variant; {enough} could show a difference.",
        runs=runs,
        enough=enough(len(arms[0].runs), sum(bool(arm.runs) for arm in arms) - 1),
    )


def also(experiment: Experiment, arms: Sequence[ArmRuns]) -> str:
    """State the right answers of each arm on the split that the question also asks about; empty without one."""
    numbers = []
    for arm in arms:
        shares = [run.score("exact_match", experiment.also) for run in arm.runs] if experiment.also else []
        summary = mean_and_range(share and 100.0 * share for share in shares)
        if summary is not None:
            percent = summary.text(lambda value: METRICS["exact_match"].text(round(value, 1)))
            runs = t("{n} run", "{n:,} runs", n=summary.n)
            numbers.append(t("“{variant}” {number} in {runs}", variant=arm.label, number=percent, runs=runs))
    return t("Right beyond the lengths in training: {numbers}.", numbers=listed(numbers)) if numbers else ""


def _leading(arms: Sequence[ArmRuns]) -> list[list[Relation]]:
    """The differences by the measure of the first one, grouped; empty without a difference."""
    groups = _grouped(relations(arms)) if any_runs(arms) else []
    differences = [each for each in groups if each[0].outcome == "difference"]
    return [each for each in differences if each[0].measure == differences[0][0].measure]


def _said(claim: Claim, arm: ArmRuns, n: int, names: str, first: str) -> str:
    """State a claim about `arm`, or about `n` arms like it with these names, beside the first one."""
    margin = arm.metric.margin(MARGIN)
    match claim:
        case "failed":
            return t("{names} failed in every run", "{names} failed in every run", n=n, names=names)
        case "incomparable":
            return t(
                "{names} is not comparable with {first}, whose runs all failed",
                "{names} are not comparable with {first}, whose runs all failed",
                n=n,
                names=names,
                first=first,
            )
        case "better":
            return t("{names} is better than {first}", "{names} are better than {first}", n=n, names=names, first=first)
        case "worse":
            return t("{names} is worse than {first}", "{names} are worse than {first}", n=n, names=names, first=first)
        case "equal":
            return t(
                "{names} is as good as {first}, within {margin}",
                "{names} are as good as {first}, within {margin}",
                n=n,
                names=names,
                first=first,
                margin=margin,
            )
        case "fewer updates":
            return t(
                "{names} reaches {target} on validation for the first time after fewer updates than {first}",
                "{names} reach {target} on validation for the first time after fewer updates than {first}",
                n=n,
                names=names,
                target=arm.target,
                first=first,
            )
        case "more updates":
            return t(
                "{names} reaches {target} on validation for the first time after more updates than {first}",
                "{names} reach {target} on validation for the first time after more updates than {first}",
                n=n,
                names=names,
                target=arm.target,
                first=first,
            )
        case "lower loss":
            return t(
                "{names} has a lower loss than {first}",
                "{names} have a lower loss than {first}",
                n=n,
                names=names,
                first=first,
            )
        case "higher loss":
            return t(
                "{names} has a higher loss than {first}",
                "{names} have a higher loss than {first}",
                n=n,
                names=names,
                first=first,
            )
    return t(
        "{names} is neither clearly different from {first} nor clearly as good, within {margin}",
        "{names} are neither clearly different from {first} nor clearly as good, within {margin}",
        n=n,
        names=names,
        first=first,
        margin=margin,
    )


def _sentence(first: ArmRuns, stated: Sequence[Relation], n_others: int) -> str:
    """State what several arms have in common beside the first one."""
    relation, several = stated[0], len(stated) > 1
    numbers = all(each.own for each in stated)

    def named(arm: ArmRuns, value: MeanAndRange | None) -> str:
        # Each of several names with its number, so that nobody has to count along two lists.
        if several and numbers and value and relation.first:
            return t("“{variant}” with {number}", variant=arm.label, number=value.text(relation.write))
        return quoted(arm.label)

    names, base = listed(named(each.arm, each.own) for each in stated), named(first, relation.first)
    seen = _seen(first, stated) if numbers else ""
    if relation.outcome != "too few":
        said = _said(relation.claim, relation.arm, len(stated), names, base)
        return f"{said}: {seen}." if seen else f"{said}."
    return t(
        "These runs are too few to tell {names} from {first}: {numbers}; {enough} runs of each variant could.",
        names=names,
        first=base,
        numbers=seen,
        enough=enough(len(first.runs), n_others),
    )


def _seen(first: ArmRuns, stated: Sequence[Relation]) -> str:
    """The numbers of one arm and the first one; of several, which have theirs beside their names, only the measure."""
    relation = stated[0]
    if not relation.own or not relation.first:
        return ""
    measure, runs = translated(relation.measure), _counts(first, stated)
    if len(stated) > 1:
        return t("{measure}, {runs}", measure=measure, runs=runs)
    return t(
        "{value} against {first} {measure}, {runs}",
        value=relation.own.text(relation.write),
        first=relation.first.text(relation.write),
        measure=measure,
        runs=runs,
    )


def _counts(first: ArmRuns, stated: Sequence[Relation]) -> str:
    """Say how many runs were compared: "10 runs each", or "3 runs against 10"."""
    counts, of_first = [len(each.arm.runs) for each in stated], len(first.runs)
    if set(counts) == {of_first}:
        return t("{n} run each", "{n:,} runs each", n=of_first)
    if len(set(counts)) > 1:
        return t("{counts} runs against {first}", counts=listed(map(str, counts)), first=of_first)
    if len(counts) > 1:
        return t("{n} run each against {first}", "{n:,} runs each against {first}", n=counts[0], first=of_first)
    return t("{n} run against {first}", "{n:,} runs against {first}", n=counts[0], first=of_first)


def findings(arms: Sequence[ArmRuns]) -> list[str]:
    """State which runs are missing, and why runs failed."""
    failed = [
        t("“{variant}”, seed {seed}: {error}", variant=arm.label, seed=run.seed, error=run.error)
        for arm in arms
        for run in arm.runs
        if run.error
    ]
    return _missing(arms) + failed


def _missing(arms: Sequence[ArmRuns]) -> list[str]:
    """Name the arms without runs, and those with fewer than planned."""
    none = [quoted(arm.label) for arm in arms if not arm.runs]
    some = [
        t("“{variant}” has {runs} of {seeds}", variant=arm.label, runs=len(arm.runs), seeds=len(arm.recipe.seeds))
        for arm in arms
        if 0 < len(arm.runs) < len(arm.recipe.seeds)
    ]
    sentences = [t("Not run yet: {variants}.", variants=listed(none))] if none else []
    return [*sentences, t("Runs are missing: {variants}.", variants=listed(some))] if some else sentences


def duration_sentence(arm: ArmRuns) -> str:
    """State day, machine, version of PyTorch and seconds per run of an arm that has runs."""
    run = arm.runs[0]
    return t(
        "{day}: on {machine}, PyTorch {version}, {duration} seconds per run, including scoring and whatever else the "
        "machine was doing.",
        day=max(run.day for run in arm.runs) or t("day unknown"),
        machine=run.machine,
        version=run.torch,
        duration=_from_to(run.seconds for run in arm.runs),
    )
