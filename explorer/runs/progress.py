"""Describe a run that is being watched: state, progress, numbers, and sample translations."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

from explorer.decoding.cache import cached
from explorer.decoding.model_summary import by_heart
from explorer.locale.language import cached_by_language
from explorer.locale.messages import message, t, translated
from explorer.locale.text import fixed, listed, quoted
from explorer.runs.metrics import Metrics, SampleTranslation, plain_loss
from explorer.runs.status import RunStatus, State
from model.analysis.run_curves import Curves, bounds, is_perfect, loss_text
from model.analysis.run_diagnosis import Diagnosis, Verdict, diagnose
from model.data.checks import FEWEST_HELD_OUT
from model.durations import span
from model.folder import PROBE_ANSWER, CheckpointError
from model.headline import HeadlineName
from model.trace import AttentionTrace, TraceError

STATE_SENTENCES: Mapping[State, str] = {
    "queued": message(
        "Waiting: another run is being trained on this machine. This one starts when the other has ended."
    ),
    "stopping": message("Stopping after the current batch; everything is saved first."),
}
ALARMING: tuple[Verdict, ...] = ("memorising", "diverged", "stuck", "few", "leaking")
MAX_TRACE_BYTES = 64 * 1024**2
_UNKNOWN = "–"


def starting_sentence(status: RunStatus) -> str:
    """What a run does before its first update, and for how long by now, which shows that the page is alive."""
    return t(
        "The process is starting: it reads the data and builds the model ({seconds:.0f} s so far).",
        seconds=max(time.time() - status.started, 0.0),
    )


def caught_up(status: RunStatus, metrics: Metrics) -> RunStatus:
    """The status with the newest step that was logged: it is written less often than the metrics."""
    logged = [int(points[-1]["step"]) for points in (metrics.train, metrics.evals) if points]
    return replace(status, step=max(status.step, *logged)) if logged and status.busy else status


def progress(status: RunStatus, reason: str = "", *, early: bool = False, coming: tuple[int, int] | None = None) -> str:
    """State how far the run is, and how long it will still take; `reason`: why it ended where it did.

    `early`: it may end before its last step; `coming`: see :func:`early_end`.
    """
    if not status.max_steps:
        position = t("no step yet")
    elif early and status.busy:
        position = t("step {step:,} of at most {max_steps:,}", step=status.step, max_steps=status.max_steps)
    else:
        position = t("step {step:,} of {max_steps:,}", step=status.step, max_steps=status.max_steps)
    if status.state == "finished":
        if status.step < status.max_steps:
            ended = t(
                "Finished at step {step:,} of at most {max_steps:,}.", step=status.step, max_steps=status.max_steps
            )
        else:
            ended = t("Finished at step {step:,}.", step=status.step)
        return f"{ended} {reason}".strip()
    if coming and status.busy:
        return t(
            "{position}; ends at step {end:,} if the next evaluation is as good, too",
            "{position}; ends at step {end:,} if the next {n} evaluations are as good, too",
            position=position,
            end=coming[0],
            n=coming[1],
        )
    if status.state == "running" and status.step and status.left is None:
        return t("{position}; the time left is being measured", position=position)
    if not status.busy or status.left is None or not status.step:
        return position
    if early:
        return t("{position}, {duration} left unless it ends early", position=position, duration=span(*status.left))
    return t("{position}, {duration} left", position=position, duration=span(*status.left))


def why_ended(status: RunStatus, metrics: Metrics, training: Mapping[str, Any]) -> str:
    """Why a run with these settings ended where it did, in a sentence; empty if its curves do not say it."""
    wanted = training.get("stop_when_right")
    right = [point.get("exact_match", 0) >= point.get("reachable", 1) for point in metrics.evals]
    in_a_row = max((len(list(series)) for same, series in groupby(right) if same), default=0)
    if status.step >= status.max_steps:
        if isinstance(wanted, int) and 0 < in_a_row < wanted:
            return t(
                "It did not end early: no {n} evaluations in a row were without a mistake.",
                n=wanted,
            )
        return ""
    last = metrics.evals[-wanted:] if isinstance(wanted, int) and wanted > 0 else ()
    if last and len(last) == wanted and all(right[-wanted:]):
        return t(
            "The last evaluation was as good as can be.",
            "The last {n} evaluations were as good as can be.",
            n=len(last),
        )
    patience, waited = training.get("patience"), _waited(metrics, training)
    if isinstance(patience, int) and 0 < patience <= waited:
        return t(
            "The last evaluation was no better than the best before it.",
            "The last {n} evaluations were no better than the best before them.",
            n=waited,
        )
    return ""


def _waited(metrics: Metrics, training: Mapping[str, Any]) -> int:
    """The number of evaluations since the best one."""
    measure = str(training.get("select_by"))
    scores = [{**point, "loss": -point.get("loss", math.inf)} for point in metrics.evals]
    ranks = [(point.get(measure, -math.inf), point["loss"]) for point in scores]
    return len(ranks) - 1 - ranks.index(max(ranks)) if ranks else 0


def early_end(status: RunStatus, metrics: Metrics, training: Mapping[str, Any]) -> tuple[int, int] | None:
    """The step at which a run ends early if it goes on as at its last evaluations, and how many more must be as good.

    None if the last evaluation was not as good as can be, or this would not be before the last step.
    """
    every, wanted = training.get("eval_every"), training.get("stop_when_right")
    row = _right_in_a_row(metrics) if _enough_held_out(metrics) else 0
    if not isinstance(every, int) or not isinstance(wanted, int) or every < 1 or not 0 < row < wanted:
        return None
    end = (int(metrics.evals[-1]["step"]) // every + wanted - row) * every
    return (end, wanted - row) if end < status.max_steps else None


def _enough_held_out(metrics: Metrics) -> bool:
    """Whether so many pairs are held out, as far as is known, that all of them are hardly right by chance."""
    held_out = metrics.latest("sentences")
    return held_out is None or held_out >= FEWEST_HELD_OUT


def _right_in_a_row(metrics: Metrics) -> int:
    """How many of the last evaluations were as good as can be."""
    right = [point.get("exact_match", 0) >= point.get("reachable", 1) for point in metrics.evals]
    return len(list(takewhile(bool, reversed(right))))


def may_end_early(status: RunStatus, metrics: Metrics, training: Mapping[str, Any]) -> bool:
    """Whether enough evaluations are left for a run with these settings to end before its last step."""
    every, patience, wanted = (training.get(name) for name in ("eval_every", "patience", "stop_when_right"))
    if not isinstance(every, int) or every < 1:
        return False
    last = int(metrics.evals[-1]["step"]) if metrics.evals else 0
    left = max((status.max_steps - 1) // every - last // every, 0)
    row = _right_in_a_row(metrics)
    by_score = isinstance(wanted, int) and wanted > 0 and _enough_held_out(metrics) and row + left >= wanted
    by_patience = isinstance(patience, int) and patience > 0 and _waited(metrics, training) + left >= patience
    return by_score or by_patience


def kept_step(metrics: Metrics, summary: Mapping[str, Any]) -> int:
    """The step whose weights a run kept; 0 if they are those of its last evaluation, or not known."""
    step = (summary.get("results") or {}).get("step")
    steps = [point["step"] for point in metrics.evals]
    return step if type(step) is int and step in steps[:-1] else 0


def up_to(metrics: Metrics, step: int) -> Metrics:
    """What was logged up to a step; everything if that is 0."""
    if not step:
        return metrics
    train, evals = (
        tuple(point for point in points if point["step"] <= step) for points in (metrics.train, metrics.evals)
    )
    return Metrics(train, evals, tuple(sample for sample in metrics.samples if sample[0] <= step), metrics.looks)


def diagnosis_of(metrics: Metrics, busy: bool, summary: Mapping[str, Any]) -> Diagnosis:
    """Diagnose a run from its curves and the `summary` of its model (see model.folder)."""
    return diagnosis(metrics, not busy, by_heart(summary.get("task")), bool(summary.get("init")))


@cached_by_language(64)
def diagnosis(metrics: Metrics, ended: bool, known: bool = False, continued: bool = False) -> Diagnosis:
    """Diagnose from its curves how the run is going or, once it has ended, how it went.

    `known`: validation has the pairs of training, so that scores have no intervals; `continued`: it began with the
    weights of another.
    """
    curves = replace(Curves.of(metrics.train, metrics.evals), known=known, continued=continued)
    return diagnose(replace(curves, sentences=0) if known else curves, ended=ended)


def headline_numbers(metrics: Metrics, score: str) -> tuple[tuple[str, str], ...]:
    """The newest numbers of a run as pairs of label and text; `score` names the measure of quality, such as bleu."""
    sentences = int(metrics.latest("sentences") or 0)
    quality = []
    for measure, label in (("exact_match", t("Exactly right")), ("bleu", "BLEU")):
        if measure == "bleu" and (score != "bleu" or metrics.latest("exact_match") == 1):
            continue  # not measured, or without meaning, or it says the same again
        value = metrics.latest(measure)
        name = t("{score}, of {sentences:,}", score=label, sentences=sentences) if sentences else label
        text = _UNKNOWN if value is None else score_text(measure, value, sentences)
        if "(" in text:
            name = t("{score}, of {sentences:,} (95 % interval)", score=label, sentences=sentences)
        quality.append((name, text))
    return (*_newest_losses(metrics), *quality)


def _newest_losses(metrics: Metrics) -> tuple[tuple[str, str], ...]:
    """The newest training and validation loss, each with its step: they are logged at different ones."""
    train, evals = metrics.train[-1:], metrics.scored[-1:]
    losses = [(t("Training loss, step {step:,.0f}", step=last["step"]), plain_loss(last)) for last in train]
    losses += [(t("Validation loss, step {step:,.0f}", step=last["step"]), last.get("loss")) for last in evals]
    return tuple((label, _UNKNOWN if loss is None else loss_text(loss)) for label, loss in losses)


def score_text(score: str, value: float, sentences: int) -> str:
    """A score with its 95 % interval, if it has one and it is known of how many sentences it is: "98.0 % (89–100)"."""
    name: HeadlineName = "bleu" if score == "bleu" else "exact_match"
    scale, unit = (1, "") if name == "bleu" else (100, " %")
    within = f" ({range_text(name, value, sentences)})" if sentences and not is_perfect(name, value) else ""
    return f"{fixed(scale * value, 1)}{unit}{within}"


def range_text(name: HeadlineName, value: float, sentences: int) -> str:
    """The 95 % interval of a score, on a scale from 0 to 100: "89–100", or "99.2–99.9" if it is narrow."""
    ends = bounds(name, value, sentences)
    decimals = max(len(f"{end:g}".partition(".")[2]) for end in ends)
    return "–".join(fixed(end, 0 if end == 100 else decimals) for end in ends)


def sample_table(samples: Sequence[tuple[int, tuple[SampleTranslation, ...]]]) -> dict[str, list[str]] | None:
    """Tabulate the newest sample translations; None if there are none."""
    if not samples:
        return None
    _, newest = samples[-1]
    return {
        t("source"): [sample.source for sample in newest],
        t("right answer"): [sample.target for sample in newest],
        t("model's answer"): [sample.prediction or t("(nothing)") for sample in newest],
        t("exactly right"): [t("yes") if sample.prediction == sample.target else t("no") for sample in newest],
    }


def watched_trace(folder: Path) -> AttentionTrace | None:
    """Load the attention in the watched sentence at the last evaluation; None if there is none or it cannot be read."""
    path = folder / PROBE_ANSWER
    try:
        status = path.stat()
        if status.st_size > MAX_TRACE_BYTES:
            return None
        return _trace(str(path), status.st_mtime_ns, status.st_size)
    except (OSError, TraceError, CheckpointError):
        return None


@cached
def _trace(path: str, changed: int, size: int) -> AttentionTrace:
    del changed, size  # parts of the key only
    return AttentionTrace.load_npz(path)


def written_text(trace: AttentionTrace) -> str:
    """Join the predicted tokens into text: tokens of one word joined, words separated by spaces, written or not."""
    text, previous_word = "", -1
    for token, word in zip(trace.predicted_tokens, (*trace.tgt_words[1:], -1), strict=True):
        if token == "␣":
            text += " "
        elif token != "<eos>":
            text += token if word == previous_word or not text or text[-1] == " " else f" {token}"
        previous_word = word
    return text


def queue_sentence(statuses: Sequence[RunStatus], name: str = "") -> str:
    """State which runs come before the one called `name`, or before a new one, and how long they take.

    `statuses` are in the order of :meth:`explorer.runs.lifecycle.Runs.statuses`. Empty if a new run need not wait.
    """
    busy = [status for status in statuses if status.busy]
    names = [status.name for status in busy]
    earlier = busy[: names.index(name)] if name in names else busy
    if not earlier:
        return translated(STATE_SENTENCES["queued"]) if name else ""
    runs, n = listed(quoted(status.name) for status in earlier), len(earlier)
    if name:
        sentence = t("It waits until {runs} has ended.", "It waits until {runs} have ended.", n=n, runs=runs)
    else:
        sentence = t(
            "A new run waits until {runs} has ended.", "A new run waits until {runs} have ended.", n=n, runs=runs
        )
    wait = _seconds_of(earlier)
    return sentence if wait is None else f"{sentence} {t('That takes {duration}.', duration=span(*wait))}"


def _seconds_of(statuses: Sequence[RunStatus]) -> tuple[float, float] | None:
    """Sum the ranges of the remaining seconds of these runs; None if one is unknown."""
    known = [status.left for status in statuses if status.left is not None]
    if len(known) < len(statuses):
        return None
    return sum(low for low, _ in known), sum(high for _, high in known)
