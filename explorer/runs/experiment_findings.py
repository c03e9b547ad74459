"""State the results of an experiment in sentences, from the numbers of its stored runs; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t, translated
from explorer.locale.text import capitalised, listed, quoted
from explorer.runs.experiment_arms import ArmRuns, MeanAndRange, mean_and_range
from explorer.runs.experiment_relations import (
    COMPARISONS,
    LEVEL,
    MARGIN,
    Outcome,
    Relation,
    enough,
    relations,
    whole,
)
from model.data import get_task
from model.experiments.recipe import Experiment

_MOST_WORDS = 10  # of an answer


def answer(arms: Sequence[ArmRuns]) -> str:
    """State in at most ten words how the arms stand beside the first one, differences first; the table has the rest."""
    said = [[listed(map(quoted, labels)), verdict, len(labels)] for verdict, labels in _by_verdict(arms)]

    def words(parts: Sequence[Any]) -> int:
        return len(" ".join(map(str, parts)).split())

    for longest in sorted(said, key=lambda part: -words(part[:1])):
        if sum(words(part[:2]) for part in said) > _MOST_WORDS and words(longest[:1]) > 2:
            longest[0] = t("{n} variant", "{n:,} variants", n=longest[2])
    while len(said) > 1 and sum(words(part[:2]) for part in said) > _MOST_WORDS:
        said.pop()
    parts = (t("{names}: {verdict}", names=names, verdict=verdict) for names, verdict, _ in said)
    return capitalised("; ".join(parts)) + "." if said else t("There is nothing to compare yet.")


def _by_verdict(arms: Sequence[ArmRuns]) -> list[tuple[str, list[str]]]:
    """The verdicts with the labels of their arms, differences first."""
    order: tuple[Outcome, ...] = ("difference", "equal", "undecided", "too few")
    grouped: dict[tuple[int, str], list[str]] = {}
    for label, stated in _stated(arms).items():
        first = min(order.index(each.outcome) for each in stated)
        grouped.setdefault((first, _verdict(stated)), []).append(label)
    return [(verdict, labels) for (_, verdict), labels in sorted(grouped.items(), key=lambda item: item[0][0])]


def _stated(arms: Sequence[ArmRuns]) -> dict[str, list[Relation]]:
    """By label, what may be said of each arm that has runs, beside the first one."""
    by_label: dict[str, list[Relation]] = {}
    for each in relations(arms) if any(arm.runs for arm in arms) else ():
        by_label.setdefault(each.arm.label, []).append(each)
    return by_label


def _verdict(stated: Sequence[Relation], *, with_numbers: bool = False) -> str:
    """What may be said of one arm in a few words, differences first; with the numbers that its row lacks."""
    words = {
        "failed": t("failed in every run"),
        "incomparable": t("not comparable"),
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
        if with_numbers and each.own and each.first and each.measure != each.arm.metric.name:
            own, first = each.write(each.own.mean), each.write(each.first.mean)
            verdict = t("{verdict} ({own} against {first})", verdict=verdict, own=own, first=first)
        elif with_numbers and each.p <= LEVEL:  # only the correction leaves it open
            verdict = t("{verdict} (p = {p:.2g})", verdict=verdict, p=each.p)
        said.append(verdict)
    return ", ".join(said)


def rows(experiment: Experiment, arms: Sequence[ArmRuns]) -> list[dict[str, str]]:
    """One table row per arm: its number of runs, score, right answers beyond the lengths if asked for, verdict."""
    stated, found = _stated(arms), []
    for arm in arms:
        write = replace(arm.metric, unit="").rounded
        label = f"{arm.label}, {len(arm.runs)}" if arm.runs else arm.label
        row = {t("variant, runs"): label, arm.metric.short: _text(mean_and_range(arm.scores()), write)}
        if experiment.also:
            shares = [run.score("exact_match", experiment.also) for run in arm.runs]
            row[t("beyond (%)")] = _text(mean_and_range(share and 100.0 * share for share in shares), write)
        found.append(row | {t("verdict"): _verdict(stated.get(arm.label, ()), with_numbers=True)})
    return found


def _text(value: MeanAndRange | None, write: Callable[[float], str]) -> str:
    return value.text(write) if value else ""


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common: data, updates, rate, test sentences, comparisons."""
    runs = [run for arm in arms for run in arm.runs if run.valid["step"]]
    return t(
        "{data}: {updates} updates, rate {rate}, {n} test sentences, {comparisons} comparisons.",
        data=translated(get_task(arms[0].recipe.base.task).title),
        updates=_from_to(run.valid["step"][-1] for run in runs),
        rate=_from_to((arm.recipe.rate for arm in arms if arm.runs), write=_rate),
        n=whole(max(run.score("sentences") or 0 for run in runs)),
        comparisons=COMPARISONS * (sum(bool(arm.runs) for arm in arms) - 1),
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
        enough=enough(len(arms[0].runs), sum(bool(arm.runs) for arm in arms) - 1),
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
