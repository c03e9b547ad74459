"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, listed, quoted
from explorer.runs.experiment_arms import METRICS, ArmRuns, MeanAndRange, mean_and_range
from explorer.runs.experiment_relations import (
    COMPARISONS,
    LEVEL,
    MARGIN,
    Claim,
    Outcome,
    Relation,
    enough,
    relations,
    whole,
)
from model.data import get_task
from model.experiments.recipe import Experiment


def answer(arms: Sequence[ArmRuns]) -> list[str]:
    """State which arms differ from the first one, which are as good, and what these runs cannot tell, in this order."""
    first, *others = [arm for arm in arms if arm.runs] or arms
    if not others or not first.runs:
        return [t("There is nothing to compare yet.")]
    said = []
    for stated in _grouped(relations(arms)):
        names, base = listed(quoted(each.arm.label) for each in stated), quoted(first.label)
        if stated[0].outcome == "too few":
            needed = enough(len(first.runs), len(others))
            said.append(
                t(
                    "These runs are too few to tell {names} from {first}; {enough} runs of each variant could.",
                    names=names,
                    first=base,
                    enough=needed,
                )
            )
        else:
            said.append(f"{_said(stated[0].claim, stated[0].arm, len(stated), names, base)}.")
    return said


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


def numbers(experiment: Experiment, arms: Sequence[ArmRuns]) -> str:
    """State each arm's score, what else differs, and, if asked, right answers beyond the lengths, with their ranges."""
    ran = [arm for arm in arms if arm.runs]
    stated = relations(arms) if len(ran) > 1 else []
    lines: dict[str, dict[str, str]] = {}

    def add(measure: str, arm: ArmRuns, value: MeanAndRange | None, write: Callable[[float], str]) -> None:
        if value is not None:
            runs = t("{n} run", "{n:,} runs", n=value.n)
            number = t("“{variant}” {number} in {runs}", variant=arm.label, number=value.text(write), runs=runs)
            lines.setdefault(measure, {})[arm.label] = number

    for arm in ran:
        add(arm.metric.name, arm, mean_and_range(arm.scores()), arm.metric.rounded)
    for each in stated:
        add(each.measure, ran[0], each.first, each.write)
        add(each.measure, each.arm, each.own, each.write)
    for arm in ran if experiment.also else ():
        shares = [run.score("exact_match", experiment.also) for run in arm.runs]
        beyond = mean_and_range(share and 100.0 * share for share in shares)
        add(message("right beyond the lengths in training"), arm, beyond, METRICS["exact_match"].rounded)
    said = [
        t("{measure}: {numbers}.", measure=capitalised(translated(measure)), numbers=listed(of.values()))
        for measure, of in lines.items()
    ]
    missed = [
        t("that “{variant}” differs (p = {p:.2g})", variant=each.arm.label, p=each.p)
        if each.apart
        else t("that “{variant}” is as good (p = {p:.2g})", variant=each.arm.label, p=each.p)
        for each in stated
        if each.p <= LEVEL
    ]
    if missed:
        said.append(t("Only Holm's correction leaves open {missed}.", missed=listed(missed)))
    return " ".join(said)


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common: data, updates, rate, parameters, sentences, and the test."""
    runs = [run for arm in arms for run in arm.runs if run.valid["step"]]
    n, metric = max(run.score("sentences") or 0 for run in runs), arms[0].metric
    said = t(
        "{data}; {updates} updates, highest learning rate {rate}, {parameters} parameters, {n} test sentences. "
        "{comparisons} comparisons (score, score within {margin}, updates and loss, each beside “{first}”) by an exact "
        "rank-sum test, {percent:.0f} % after Holm's correction.",
        data=translated(get_task(arms[0].recipe.base.task).title),
        updates=_from_to(run.valid["step"][-1] for run in runs),
        rate=_from_to((arm.recipe.rate for arm in arms if arm.runs), write=_rate),
        parameters=_from_to(run.parameters for run in runs),
        n=whole(n),
        comparisons=COMPARISONS * (sum(bool(arm.runs) for arm in arms) - 1),
        margin=metric.margin(MARGIN),
        first=arms[0].label,
        percent=100 * LEVEL,
    )
    if not metric.in_percent or not n or 100 / n <= MARGIN:
        return said
    coarse = t(
        "One test sentence is {points:.2f} percentage points, so what is within {margin} here need not be on others.",
        points=100 / n,
        margin=metric.margin(MARGIN),
    )
    return f"{said} {coarse}"


def _rate(rate: float) -> str:
    return in_digits_of(current(), f"{rate:g}")


def _from_to(values: Iterable[float], write: Callable[[float], str] = whole) -> str:
    ordered = sorted(values)
    low, high = write(ordered[0]), write(ordered[-1])
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


def _said(claim: Claim, arm: ArmRuns, n: int, names: str, first: str) -> str:
    """State a claim about `arm`, or about `n` arms like it with these names, beside the first one."""
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
            return t("{names} is as good as {first}", "{names} are as good as {first}", n=n, names=names, first=first)
        case "fewer updates":
            return t(
                "{names} reaches {target} on validation after fewer updates than {first}",
                "{names} reach {target} on validation after fewer updates than {first}",
                n=n,
                names=names,
                target=arm.target,
                first=first,
            )
        case "more updates":
            return t(
                "{names} reaches {target} on validation after more updates than {first}",
                "{names} reach {target} on validation after more updates than {first}",
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
        "{names} is not shown to differ from {first}, nor to be within {margin} of it",
        "{names} are not shown to differ from {first}, nor to be within {margin} of it",
        n=n,
        names=names,
        first=first,
        margin=arm.metric.margin(MARGIN),
    )


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
