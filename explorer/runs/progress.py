"""What is said about a run that is being watched: state, progress, its numbers, and its sample translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from explorer.decoding.cache import cached
from explorer.locale.text import count, plural
from explorer.runs.metrics import Metrics, SampleTranslation, plain_loss
from explorer.runs.status import RunStatus, State, clock
from model.analysis.run_diagnosis import Curves, Diagnosis, Verdict, diagnose
from model.folder import PROBE_ANSWER, CheckpointError
from model.trace import AttentionTrace, TraceError

STATE_SENTENCES: Mapping[State, str] = {
    "starting": "The process is starting: it reads the data and builds the model.",
    "queued": "Waiting: another run is being trained on this machine. This one starts when that has ended.",
    "stopping": "Stopping after the current batch; everything is saved first.",
}
ALARMING: tuple[Verdict, ...] = ("memorising", "diverged", "stuck")
MAX_TRACE_BYTES = 64 * 1024**2
_UNKNOWN = "–"


def progress(status: RunStatus) -> str:
    """How far the run is, and how long it will still take."""
    done = f"step {status.step:,} of {status.max_steps:,}" if status.max_steps else "no step yet"
    if status.state == "finished":
        return f"Finished at step {status.step:,}."
    if status.busy and status.eta_s is not None and status.step:
        return f"{done}, about {clock(status.eta_s)} left"
    return done


@lru_cache(maxsize=32)
def diagnosis(metrics: Metrics, ended: bool) -> Diagnosis:
    """How the run is going or, once it has ended, how it went, from its curves."""
    return diagnose(Curves.of(metrics.train, metrics.evals), ended=ended)


def headline_numbers(metrics: Metrics, status: RunStatus, score: str) -> tuple[tuple[str, str], ...]:
    """The newest numbers of a run as pairs of label and text; `score` names the measure of quality, such as bleu."""
    value = metrics.latest("evals", score)
    rate = metrics.latest("train", "lr")
    if score == "bleu":
        quality = ("BLEU", f"{value:.1f}" if value is not None else _UNKNOWN)
    else:
        quality = ("Exactly right", f"{100 * value:.1f} %" if value is not None else _UNKNOWN)
    return (
        ("Training loss", _loss(plain_loss(metrics.train[-1]) if metrics.train else None)),
        ("Validation loss", _loss(metrics.latest("evals", "loss"))),
        quality,
        ("Learning rate", f"{rate:.2g}" if rate is not None else _UNKNOWN),
        ("Tokens/s", count(status.tokens_per_s) if status.tokens_per_s else _UNKNOWN),
    )


def _loss(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.3f}"


@dataclass(frozen=True)
class SampleTable:
    """Sample translations of the newest evaluation, beside those of the one before, by columns."""

    step: int
    columns: dict[str, list[str]]
    caption: str


def sample_table(samples: Sequence[tuple[int, tuple[SampleTranslation, ...]]]) -> SampleTable | None:
    """The newest sample translations as a table; None before the first evaluation."""
    if not samples:
        return None
    step, now = samples[-1]
    before = {sample.source: sample.prediction for sample in samples[-2][1]} if len(samples) > 1 else {}
    columns = {
        "source": [sample.source for sample in now],
        "right answer": [sample.target for sample in now],
        "model's answer": [sample.prediction for sample in now],
        "": ["right" if sample.prediction == sample.target else "" for sample in now],
        "one evaluation earlier": [before.get(sample.source, "") for sample in now],
    }
    right = sum(sample.prediction == sample.target for sample in now)
    sentences = plural(len(now), "validation sentence")
    return SampleTable(step, columns, f"Exactly right at step {step:,}: {right} of {sentences}.")


def watched_trace(folder: Path) -> AttentionTrace | None:
    """The attention in the watched sentence at the last evaluation; None while there is none, or it cannot be read."""
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
    """The decoded translation as text: tokens of one word joined, words separated by spaces."""
    text, before = "", -1
    for token, word in zip(trace.predicted_tokens, (*trace.tgt_words[1:], -1), strict=True):
        if token != "<eos>":
            text += token if word == before or not text else f" {token}"
        before = word
    return text


def busy_sentence(statuses: Sequence[RunStatus]) -> str:
    """Which run is being trained, which wait, and for how long, for somebody about to start another; empty if none.

    `statuses` are in the order of :meth:`explorer.runs.lifecycle.Runs.statuses`.
    """
    busy = [status for status in statuses if status.busy]
    if not busy:
        return ""
    left = _seconds_of(busy[:1])
    first = f"'{busy[0].name}' is {busy[0].state} on this machine" + (f" (about {clock(left)} left)" if left else "")
    if len(busy) == 1:
        return f"{first}; a new run waits until it has ended."
    waiting, total = ", ".join(f"'{status.name}'" for status in busy[1:]), _seconds_of(busy)
    when = f", in about {clock(total)}" if total is not None else ""
    return f"{first}; in line after it: {waiting}. A new run comes after them{when}."


def queue_sentence(name: str, statuses: Sequence[RunStatus]) -> str:
    """A waiting run's place in the line, and when its turn comes; `statuses` as for :func:`busy_sentence`."""
    busy = [status for status in statuses if status.busy]
    before = next((busy[:at] for at, status in enumerate(busy) if status.name == name), [])
    own = next((status for status in busy if status.name == name), None)
    if not before or own is None:
        return STATE_SENTENCES["queued"]
    place = "it is next" if len(before) == 1 else f"it is number {len(before)} in the line"
    names = ", ".join(f"'{status.name}'" for status in before)
    wait, takes = _seconds_of(before), own.eta_s
    when = f" Its turn comes in about {clock(wait)}" if wait is not None else " When its turn comes is not known yet"
    lasts = f", and it takes about {clock(takes)} then." if takes is not None else "."
    return f"Waiting for {names}: {place}.{when}{lasts}"


def _seconds_of(statuses: Sequence[RunStatus]) -> float | None:
    """How long these runs still take together; None where one of them does not say."""
    seconds = [status.eta_s for status in statuses]
    return sum(each for each in seconds if each is not None) if None not in seconds else None
