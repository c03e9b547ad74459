"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t, translated
from explorer.locale.text import listed, quoted
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from explorer.runs.experiment_relations import (
    LEVEL,
    MARGIN,
    Relation,
    comparisons,
    enough,
    ordered,
    whole,
)
from model.data import get_task


def answer(arms: Sequence[ArmRuns]) -> tuple[list[str], list[str]]:
    """State in sentences how arms stand beside the first one: the answer, and the other results.

    The answer has the result named first, those of the same measure, and the scores of all arms. Each sentence has the
    means that it compares, and the number of runs behind each of them.
    """
    groups = ordered(arms)
    kind = groups[0][0].claim.rpartition(" ")[2] if groups else ""  # "beyond", "updates" or "loss"
    main: list[str] = []
    others: list[str] = []
    for group in groups:
        claim = group[0].claim
        (main if " " not in claim or claim.endswith(kind) else others).append(_sentence(arms, group))
    several = [quoted(arm.label) for arm in arms[1:] if arm.runs and arm.changes_several(arms[0])]
    if several and main:
        main.append(
            t(
                "{names} changes more than one thing, so no single cause is shown.",
                "{names} change more than one thing, so no single cause is shown.",
                names=listed(several),
                n=len(several),
            )
        )
    return main or [t("There is nothing to compare yet.")], others


def _sentence(arms: Sequence[ArmRuns], stated: Sequence[Relation]) -> str:
    """State one claim about some arms and the first one."""
    outcome, claim = stated[0].outcome, stated[0].claim
    first = next(arm for arm in arms if arm.runs)
    own = [each.arm for each in stated]
    names, other, n = listed([quoted(arm.label) for arm in own]), quoted(first.label), len(own)
    numbers = _numbers(first, stated)
    said = {
        "better beyond": t(
            "{names} is right more often than {first} beyond the trained lengths ({numbers}).",
            "{names} are right more often than {first} beyond the trained lengths ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "worse beyond": t(
            "{names} is right less often than {first} beyond the trained lengths ({numbers}).",
            "{names} are right less often than {first} beyond the trained lengths ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "better": t(
            "{names} is better than {first} ({numbers}).",
            "{names} are better than {first} ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "worse": t(
            "{names} is worse than {first} ({numbers}).",
            "{names} are worse than {first} ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "equal": t(
            "{names} is as good as {first}, within {margin} ({numbers}).",
            "{names} are as good as {first}, within {margin} ({numbers}).",
            margin=first.metric.margin(MARGIN),
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "fewer updates": t(
            "{names} reaches {target} after fewer updates than {first} ({numbers}).",
            "{names} reach {target} after fewer updates than {first} ({numbers}).",
            target=first.target,
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "more updates": t(
            "{names} reaches {target} after more updates than {first} ({numbers}).",
            "{names} reach {target} after more updates than {first} ({numbers}).",
            target=first.target,
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "lower loss": t(
            "{names} has a lower loss than {first} ({numbers}).",
            "{names} have a lower loss than {first} ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "higher loss": t(
            "{names} has a higher loss than {first} ({numbers}).",
            "{names} have a higher loss than {first} ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
            n=n,
        ),
        "failed": t("{names} failed in every run.", names=names),
        "incomparable": t("{names} failed in every run.", names=other),
        "? beyond": t(
            "{names} beside {first} beyond the trained lengths: undecided ({numbers}).",
            names=names,
            first=other,
            numbers=numbers,
        ),
        "too few": t(
            "{names} beside {first}: too few runs to tell ({numbers}).", names=names, first=other, numbers=numbers
        ),
        "undecided": t("{names} beside {first}: undecided ({numbers}).", names=names, first=other, numbers=numbers),
    }
    return said.get(claim) or said[outcome]


def _numbers(first: ArmRuns, stated: Sequence[Relation]) -> str:
    """The means that a claim compares, the runs behind them, and the chances of claims that were not made."""
    base, own = stated[0].first, listed(each.write(each.own.mean) for each in stated if each.own)
    if base is None:
        return ""
    against, counts, n = stated[0].write(base.mean), [len(each.arm.runs) for each in stated], len(first.runs)
    if {*counts} == {n}:
        means = t("{own} against {first}, n = {n} each", own=own, first=against, n=n)
    else:
        runs = t("{n} each", n=counts[0]) if counts[1:] and len({*counts}) == 1 else listed(map(str, counts))
        means = t("{own}, n = {runs}, against {first}, n = {n}", own=own, runs=runs, first=against, n=n)
    if stated[0].outcome == "undecided":
        p = listed(_chance(each.p) for each in stated if each.p is not None)
        means = t("{means}; p = {p} for “different”", means=means, p=p)
        if equal := listed(_chance(each.p_equal) for each in stated if each.p_equal is not None):
            means = t("{means}, {p} for “as good”", means=means, p=equal)
    return means.replace("n = ", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _chance(p: float) -> str:
    """Write a chance with two digits, three where two would read as one that is small enough."""
    text = f"{p:.2g}"
    return in_digits_of(current(), text if float(text) > LEVEL else f"{p:.3g}")


def rows(arms: Sequence[ArmRuns]) -> list[dict[str, str]]:
    """One table row per arm: its runs, score, and right answers beyond the lengths if asked for."""
    found = []
    for arm in arms:
        write = replace(arm.metric, unit="").rounded
        scores = {arm.metric.short: arm.scores()} | ({t("beyond (%)"): arm.beyond()} if arm.also else {})
        row = {t("variant"): arm.label, t("runs"): str(len(arm.runs))}
        for name, values in scores.items():
            column = t("{score}: mean (lowest to highest)", score=name)
            row[column] = _text(mean_and_range(values), write)
        found.append(row)
    return found


def _text(value: MeanAndRange | None, write: Callable[[float], str]) -> str:
    """The number, and its range, which stays on one line."""
    text = value.text(write) if value else ""
    return text.replace(" ", "\N{NO-BREAK SPACE}").replace("\N{NO-BREAK SPACE}(", " (")


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common."""
    runs = [run for arm in arms for run in arm.runs if run.valid["step"]]
    return t(
        "{data}: {updates} updates, {n} test sentences; {comparisons} comparisons of each variant.",
        data=translated(get_task(arms[0].recipe.base.task).title),
        updates=_from_to(run.valid["step"][-1] for run in runs),
        n=whole(max(run.score("sentences") or 0 for run in runs)),
        comparisons=comparisons(arms),
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
        "{runs} of each variant; {enough} of each could show a difference.",
        runs=runs,
        enough=enough(arms),
    )


def failures(arms: Sequence[ArmRuns]) -> list[str]:
    """State why runs failed."""
    return [
        t("“{variant}”, seed {seed}: {error}", variant=arm.label, seed=run.seed, error=run.error)
        for arm in arms
        for run in arm.runs
        if run.error
    ]


def cost_rows(arms: Sequence[ArmRuns]) -> list[dict[str, str]]:
    """One table row per arm that has runs: its rate and size, and how long its runs took, on which day."""
    unknown = t("not recorded")
    rows = []
    for arm in arms:
        speeds = [run.tokens_per_s for run in arm.runs if run.tokens_per_s]
        if arm.runs:
            rows.append(
                {
                    t("variant"): arm.label,
                    t("highest rate"): in_digits_of(current(), f"{arm.recipe.rate:g}"),
                    t("parameters"): whole(arm.runs[0].parameters),
                    t("seconds per run"): _from_to(run.seconds for run in arm.runs),
                    t("tokens/s"): _from_to(speeds) if speeds else unknown,
                    t("last run on"): max(run.day for run in arm.runs) or unknown,
                }
            )
    return rows


def cost_sentence(arms: Sequence[ArmRuns]) -> str:
    """State on which machines, with which versions of PyTorch, the runs were made, and what the times include."""
    runs = [run for arm in arms for run in arm.runs]
    return t(
        "Made on {machines}, PyTorch {versions}. Seconds are wall-clock time, including scoring and whatever else the "
        "machine was doing; tokens per second are of processor time on one core.",
        machines=listed(sorted({run.machine for run in runs})),
        versions=listed(sorted({run.torch for run in runs})),
    )
