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
    CLAIMS,
    LEVEL,
    MARGIN,
    Claim,
    Outcome,
    Relation,
    any_runs,
    comparisons,
    enough,
    relations,
    whole,
)
from model.data import get_task

_MOST_WORDS = 26  # of an answer with two sentences
_UNLIKE = 1.005  # numbers of parameters that differ by a larger factor are named
_ORDER: tuple[Outcome, ...] = ("difference", "equal", "undecided", "too few")


def answer(arms: Sequence[ArmRuns]) -> str:
    """Answer in one sentence, or in two short ones, how arms stand beside the first one; the table has the rest.

    The largest difference in points comes first.
    """
    grouped: dict[tuple[Outcome, Claim], list[Relation]] = {}
    for each in relations(arms) if any_runs(arms) else ():
        if each.claim != "? beyond":
            grouped.setdefault((each.outcome, each.claim), []).append(each)

    def place(group: tuple[Outcome, Claim]) -> tuple[int, float, int]:
        return _ORDER.index(group[0]), -max(map(_points, grouped[group])), CLAIMS.index(group[1])

    said = [_sentence(arms, *group, [each.arm for each in grouped[group]]) for group in sorted(grouped, key=place)]
    short = len(" ".join(said[:2]).split()) <= _MOST_WORDS
    return " ".join(said[: 2 if short else 1]) or t("There is nothing to compare yet.")


def _points(stated: Relation) -> float:
    """The size of a difference of scores; 0 for updates and losses, whose units do not compare with points."""
    if stated.outcome != "difference" or stated.measure != stated.arm.metric.name or not (stated.own and stated.first):
        return 0.0
    return abs(stated.own.mean - stated.first.mean)


def _sentence(arms: Sequence[ArmRuns], outcome: Outcome, claim: Claim, own: Sequence[ArmRuns]) -> str:
    """State one claim about some arms and the first one."""
    first = next(arm for arm in arms if arm.runs)
    names, other, n = listed([quoted(arm.label) for arm in own]), quoted(first.label), len(own)
    said = {
        "better beyond": t(
            "{names} is right more often than {first} beyond the trained lengths.",
            "{names} are right more often than {first} beyond the trained lengths.",
            names=names,
            first=other,
            n=n,
        ),
        "worse beyond": t(
            "{names} is right less often than {first} beyond the trained lengths.",
            "{names} are right less often than {first} beyond the trained lengths.",
            names=names,
            first=other,
            n=n,
        ),
        "better": t(
            "{names} is better than {first}.", "{names} are better than {first}.", names=names, first=other, n=n
        ),
        "worse": t("{names} is worse than {first}.", "{names} are worse than {first}.", names=names, first=other, n=n),
        "equal": t(
            "{names} is as good as {first}, within {margin}.",
            "{names} are as good as {first}, within {margin}.",
            margin=first.metric.margin(MARGIN),
            names=names,
            first=other,
            n=n,
        ),
        "fewer updates": t(
            "{names} reaches {target} after fewer updates than {first}.",
            "{names} reach {target} after fewer updates than {first}.",
            target=first.target,
            names=names,
            first=other,
            n=n,
        ),
        "more updates": t(
            "{names} reaches {target} after more updates than {first}.",
            "{names} reach {target} after more updates than {first}.",
            target=first.target,
            names=names,
            first=other,
            n=n,
        ),
        "lower loss": t(
            "{names} has a lower loss than {first}.",
            "{names} have a lower loss than {first}.",
            names=names,
            first=other,
            n=n,
        ),
        "higher loss": t(
            "{names} has a higher loss than {first}.",
            "{names} have a higher loss than {first}.",
            names=names,
            first=other,
            n=n,
        ),
        "failed": t("{names} failed in every run.", names=names),
        "incomparable": t("{names} failed in every run.", names=other),
        "too few": t("{names} beside {first}: too few runs to tell.", names=names, first=other),
        "undecided": t("{names} beside {first}: undecided.", names=names, first=other),
    }
    return said.get(claim) or said[outcome]


def _verdict(stated: Sequence[Relation]) -> str:
    """What may be said of one arm in a few words, differences first, with the numbers that its row lacks."""
    words = {
        "failed": t("failed in every run"),
        "incomparable": t("not comparable"),
        "better beyond": t("better beyond"),
        "worse beyond": t("worse beyond"),
        "? beyond": t("undecided beyond"),
        "better": t("better"),
        "worse": t("worse"),
        "equal": t("as good within {n:g} point", "as good within {n:g} points", n=MARGIN),
        "fewer updates": t("fewer updates"),
        "more updates": t("more updates"),
        "lower loss": t("lower loss"),
        "higher loss": t("higher loss"),
        "undecided": t("undecided"),
        "too few": t("too few runs"),
    }
    said = []
    for each in sorted(stated, key=lambda each: each.outcome != "difference"):
        verdict = words.get(each.claim) or words[each.outcome]
        if each.own and each.first and each.measure != each.arm.metric.name:
            own, first = each.write(each.own.mean), each.write(each.first.mean)
            verdict = t("{verdict} ({own} against {first})", verdict=verdict, own=own, first=first)
        elif each.p <= LEVEL:  # only the correction leaves it open
            verdict = t("{verdict} (p = {p:.2g})", verdict=verdict, p=each.p)
        said.append(verdict)
    return ", ".join(said)


def rows(arms: Sequence[ArmRuns]) -> list[dict[str, str]]:
    """One table row per arm: how it was trained, score, right answers beyond the lengths if asked for, verdict."""
    found, stated = [], relations(arms) if any_runs(arms) else []
    rates = {arm.recipe.rate for arm in arms if arm.runs}
    sizes = [arm.runs[0].parameters for arm in arms if arm.runs]
    for arm in arms:
        write = replace(arm.metric, unit="").rounded
        how = [t("{n} run", "{n:,} runs", n=len(arm.runs))] if arm.runs else []
        rate = t("rate {rate}", rate=_rate(arm.recipe.rate))
        if arm.runs and len(rates) > 1 and rate not in arm.label:
            how.append(rate)
        if arm.runs and max(sizes) > _UNLIKE * min(sizes):
            how.append(t("{n} parameters", n=whole(arm.runs[0].parameters)))
        label = t("{variant}: {details}", variant=arm.label, details=", ".join(how)) if how else arm.label
        row = {t("variant"): label, arm.metric.short: _text(mean_and_range(arm.scores()), write)}
        if arm.also:
            row[t("beyond (%)")] = _text(mean_and_range(arm.beyond()), write)
        found.append(row | {t("verdict"): _verdict([each for each in stated if each.arm is arm])})
    return found


def _text(value: MeanAndRange | None, write: Callable[[float], str]) -> str:
    """The number, and its range, which stays on one line."""
    text = value.text(write) if value else ""
    return text.replace(" ", "\N{NO-BREAK SPACE}").replace("\N{NO-BREAK SPACE}(", " (")


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common, and which arms change several things."""
    runs = [run for arm in arms for run in arm.runs if run.valid["step"]]
    said = t(
        "{data}: {updates} updates, {n} test sentences; {comparisons} comparisons of each variant.",
        data=translated(get_task(arms[0].recipe.base.task).title),
        updates=_from_to(run.valid["step"][-1] for run in runs),
        n=whole(max(run.score("sentences") or 0 for run in runs)),
        comparisons=comparisons(arms),
    )
    if left := max((each.left for each in relations(arms) if each.p <= LEVEL), default=0):
        needed = LEVEL / left
        said += " " + t(
            "A further verdict would have needed p ≤ {p:.2g} (Holm, {left} comparisons left).", p=needed, left=left
        )
    several = [quoted(arm.label) for arm in arms[1:] if arm.runs and arm.changes_several(arms[0])]
    if not several:
        return said
    return f"{said} " + t(
        "{names} changes more than one thing, so no single cause is shown.",
        "{names} change more than one thing, so no single cause is shown.",
        names=listed(several),
        n=len(several),
    )


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
        enough=enough(arms),
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
