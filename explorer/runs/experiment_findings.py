"""State the results of an experiment in words, from the numbers of its stored runs; pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite, isinf, isnan
from typing import get_args

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed, listed, quoted, two_digits
from explorer.runs.experiment_arms import METRICS, ArmRuns, MeanAndRange
from explorer.runs.experiment_relations import (
    SCORES,
    Compared,
    Comparison,
    MeasureName,
    Verdict,
    comparisons,
    enough,
    leading,
    replies,
)
from model.data import get_task
from model.experiments.recipe import Yes

_GOOD = {"higher": message("better"), "lower": message("worse"), "same": message("as good")}
_WORDS: dict[MeasureName, dict[str, str]] = {
    "score": _GOOD,
    "beyond": _GOOD,
    "updates": {"higher": message("later"), "lower": message("sooner"), "same": message("as soon")},
    "loss": {"higher": message("higher"), "lower": message("lower"), "same": message("alike")},
}
_SURE: dict[Verdict, Verdict] = {"above": "higher", "below": "lower"}  # the direction, whose size is open
_ORDER = get_args(Verdict)  # in which verdicts are told
_OPEN = {
    "undecided": message("undecided"),
    "too few": message("too few runs"),
    "not compared": message("not compared"),
}


def whole(value: float) -> str:
    """Write a number without decimals, as the language does."""
    return in_digits_of(current(), f"{value:,.0f}")


def verdict_word(what: Compared, verdict: Verdict) -> str:
    """The word for a verdict on a measure: "worse", "later", "undecided"."""
    if verdict in _SURE:
        return t("{verdict}, size open", verdict=verdict_word(what, _SURE[verdict]))
    return translated((_WORDS[what.measure] | _OPEN)[verdict])


def named(what: Compared) -> str:
    """Name a measure with its conditions."""
    if what.measure == "updates":
        return t("Updates until {target} on validation", target=what.first.target)
    if what.measure == "loss":
        return t("Loss on test")
    if what.measure == "beyond":
        return t("Right on test beyond the trained lengths")
    arms = (what.first, *(row.arm for row in what.rows))
    updates = _from_to(run.valid["step"][-1] for arm in arms for run in arm.runs if run.valid["step"])
    if what.first.metric is METRICS["bleu"]:
        return t("BLEU on test after {updates} updates", updates=updates)
    return t("Right on test after {updates} updates", updates=updates)


def row_text(what: Compared, arm: ArmRuns, mean: MeanAndRange | None) -> str:
    """State the mean of an arm and the number of its runs."""
    n = len(arm.runs)
    if what.measure == "updates" and (mean is None or mean.n < n):
        return t("{reached} of {n} reached it", reached=mean.n if mean else 0, n=n)
    return t("{mean}, n = {n}", mean=_mean(what, mean), n=n)


def _mean(what: Compared, mean: MeanAndRange | None) -> str:
    if mean is None:
        return "–"
    if what.measure == "loss":
        return t("{n} nats", n=two_digits(mean.mean))
    if what.measure == "updates":
        return whole(mean.mean)
    return what.first.metric.rounded(mean.mean) if mean.high else t("0 in every run")


def finding(what: Compared, *, intervals: bool = False) -> str:
    """Name a measure, and state which arms differ from the first one by it, are as good, or are undecided."""
    return t("{measure}: {finding}", measure=named(what), finding=answer(what, intervals=intervals))


def answers(yes: Yes, measures: Sequence[Compared], *, intervals: bool = False) -> list[tuple[Compared, str, str]]:
    """Answer a question by the measures that lead, then by the other scores, and by the updates if they differ.

    Each measure has its reply and its finding. The reply is yes or no at the first of the scores, if the question asks
    for it and they decide; otherwise "".
    """
    led, decided = leading(measures), replies(yes, measures)
    rest = [each for each in measures if each not in led]
    rest = [each for each in rest if each.measure in SCORES or (each.measure == "updates" and each.differs)]
    said = []
    for what in (*led, *rest):
        reply = ""
        if what.measure in SCORES and decided is not None:
            reply, decided = t("Yes, here.") if decided else t("No, not here."), None
        said.append((what, reply, finding(what, intervals=intervals)))
    return said


def answer(what: Compared, *, intervals: bool = False) -> str:
    """State which arms differ from the first one, are as good, or are undecided, each with its mean.

    With `intervals`, those of the shifts are beside the means.
    """
    groups: dict[Verdict, list[str]] = defaultdict(list)
    for row in sorted(what.rows, key=lambda row: _ORDER.index(row.verdict)):
        known = intervals and isfinite(row.low)
        low, high = (_written(what, end) if known else "" for end in (row.low, row.high))
        name, mean = quoted(row.arm.label), _mean(what, row.mean)
        groups[row.verdict].append(
            t("{variant} ({mean}, shift {low} to {high})", variant=name, mean=mean, low=low, high=high)
            if known
            else t("{variant} ({mean})", variant=name, mean=mean)
        )
    first = t("{variant} ({mean})", variant=quoted(what.first.label), mean=_mean(what, what.mean))
    (verdict, arms), *others = groups.items()
    said = [_beside(what, verdict, first, arms)]
    for verdict, arms in others:
        word = capitalised(verdict_word(what, verdict))
        said.append(t("{verdict}: {variants}.", verdict=word, variants=listed(arms)))
    return " ".join(said)


def _beside(what: Compared, verdict: Verdict, first: str, arms: Sequence[str]) -> str:
    """State the verdict on some arms beside the first one."""
    variants, n = listed(arms), len(arms)
    if verdict in ("higher", "lower", "above", "below"):
        said = t(
            "{variants} is {verdict} than {first}.",
            "{variants} are {verdict} than {first}.",
            variants=variants,
            verdict=verdict_word(what, _SURE.get(verdict, verdict)),
            first=first,
            n=n,
        )
        return f"{said} {t('By how much is open.')}" if verdict in _SURE else said
    if verdict == "same" and what.measure in SCORES:
        return t(
            "{variants} is as good as {first}.",
            "{variants} are as good as {first}.",
            variants=variants,
            first=first,
            n=n,
        )
    word = verdict_word(what, verdict)
    return t("{variants} beside {first}: {verdict}.", verdict=word, variants=variants, first=first)


def shift_rows(what: Compared) -> list[dict[str, str]]:
    """One table row for each arm beside the first one: its shift with its interval, and the verdict."""
    rows = []
    for row in what.rows:
        is_late = what.measure == "updates" and (row.mean is None or row.mean.n < len(row.arm.runs))
        verdict = row_text(what, row.arm, row.mean) if is_late else verdict_word(what, row.verdict)
        shift = "" if isnan(row.low) or isinf(row.low) else shift_text(what, row)
        rows.append({t("variant"): row.arm.label, unit(what): shift, t("verdict"): verdict})
    return rows


def unit(what: Compared) -> str:
    """What a shift is measured in."""
    if what.measure == "loss":
        return t("times the loss")
    return t("updates more") if what.measure == "updates" else t("points more")


def axis_title(what: Compared) -> str:
    """What a shift is measured in, and on which side it is better, sooner or lower."""
    if what.measure in SCORES:
        return t("{unit} ({verdict} →)", unit=unit(what), verdict=verdict_word(what, "higher"))
    return t("{unit} (← {verdict})", unit=unit(what), verdict=verdict_word(what, "lower"))


def shift_text(what: Compared, row: Comparison) -> str:
    """Write the shift of an arm with its interval."""
    shift, low, high = (_written(what, value) for value in (row.shift, row.low, row.high))
    return t("{number} ({low} to {high})", number=shift, low=low, high=high)


def _written(what: Compared, value: float) -> str:
    if what.measure == "loss":
        return two_digits(value)
    return fixed(value, 0 if what.measure == "updates" else 1, signed=True)


def no_single_cause(arms: Sequence[ArmRuns]) -> str:
    """State which arms differ from the first one in several things; "" if none does."""
    several = [quoted(arm.label) for arm in arms[1:] if arm.runs and arm.changes_several(arms[0])]
    if not several:
        return ""
    return t(
        "{names} changes more than one thing, so no single cause is shown.",
        "{names} change more than one thing, so no single cause is shown.",
        names=listed(several),
        n=len(several),
    )


def conditions(arms: Sequence[ArmRuns]) -> str:
    """State what the runs of an experiment have in common."""
    runs = [run for arm in arms for run in arm.runs]
    return t(
        "{data}, {n} test sentences; {comparisons} comparisons.",
        data=translated(get_task(arms[0].recipe.base.task).title),
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
