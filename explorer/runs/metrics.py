"""Read the metrics of a run from metrics.jsonl while it grows."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from model.file_formats import FormatError, decode
from model.folder import MAX_METRICS_BYTES

MAX_POINTS = 1000  # of each kind; at twice as many, every second one is dropped
MAX_SAMPLES = 64  # evaluations whose sample translations stay in memory: the first and the latest
MAX_STEP = 10**12
MAX_NUMBER = 1e300
_SHORTEST = b'{"step":1}'  # shorter lines are skipped
MAX_TEXT = 400  # characters of a sample sentence

TRAIN_NUMBERS = ("epoch", "seconds", "loss", "nll", "lr", "grad_norm", "tokens_per_s")
EVAL_NUMBERS = ("epoch", "seconds", "loss", "exact_match", "token_accuracy", "bleu", "sentences", "reachable")

Point = dict[str, float]


@dataclass(frozen=True)
class SampleTranslation:
    """One validation sentence as the model translated it at an evaluation."""

    source: str
    target: str
    prediction: str


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics so far, oldest first, each step once.

    `train` points have step and, if logged, epoch, seconds (of training), loss (as optimised, in nats per target
    token), nll (the same without smoothing and consistency), lr, grad_norm, tokens_per_s; `evals` have step, epoch,
    seconds, loss, exact_match, token_accuracy (0 to 1), bleu (0 to 100), sentences, reachable (the
    largest share that can be right, if that is not all). `looks` are the same before the first evaluation of a short
    run; they decide nothing, and are drawn only. `samples` are pairs of step
    and sample translations of a few evaluations.
    """

    train: tuple[Point, ...] = ()
    evals: tuple[Point, ...] = ()
    samples: tuple[tuple[int, tuple[SampleTranslation, ...]], ...] = ()
    looks: tuple[Point, ...] = ()

    @property
    def scored(self) -> tuple[Point, ...]:
        """Every point with scores."""
        return (*self.looks, *self.evals)

    def latest(self, name: str) -> float | None:
        """The newest value of one number of a score; None if there is none yet."""
        return next((point[name] for point in reversed(self.scored) if name in point), None)


def plain_loss(point: Point) -> float | None:
    """The training loss of a point as validation measures it, or as optimised if only that was logged."""
    return point.get("nll", point.get("loss"))


def logs_plain_loss(metrics: Metrics) -> bool:
    """Whether the run logs the training loss without smoothing and consistency; older versions did not."""
    return any("nll" in point for point in metrics.train)


def optimises_another_loss(metrics: Metrics) -> bool:
    """Whether the optimised loss differs from the plain one, by label smoothing or consistency of two views."""
    both = ((point["loss"], point["nll"]) for point in metrics.train if "nll" in point and "loss" in point)
    return any(abs(loss - nll) > 1e-4 * max(abs(nll), 1e-3) for loss, nll in both)


def load_metrics(path: Path) -> Metrics:
    """Load the metrics so far; empty if there is no file. An unchanged file is not read again.

    Only the first `MAX_METRICS_BYTES` are read, some 300,000 lines.
    """
    try:
        status = os.stat(path)
        # Opening a pipe would block until another process writes to it.
        return _read(str(path), status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else Metrics()
    except OSError:  # deleted, not readable, or a run that has logged nothing yet
        return Metrics()


@lru_cache(maxsize=64)
def _read(path: str, changed: int, size: int) -> Metrics:
    """Read the metrics in a file; `changed` and `size` only serve as parts of the cache key."""
    del changed, size
    train: list[Point] = []
    evals: list[Point] = []
    looks: list[Point] = []
    samples: list[tuple[int, tuple[SampleTranslation, ...]]] = []
    with open(path, "rb") as file:
        content = file.read(MAX_METRICS_BYTES)
    for line in io.BytesIO(content):
        if len(line) <= len(_SHORTEST):
            continue
        try:
            values = decode(line)
        except FormatError:
            continue  # not complete yet, or truncated by a kill; a resumed run repeats the step
        step = values.get("step") if isinstance(values, dict) else None
        if type(step) is not int or not 0 <= step < MAX_STEP:
            continue
        if values.get("kind") == "train":
            _append(train, _point(step, values, TRAIN_NUMBERS))
        elif values.get("kind") in ("eval", "look"):
            _append(evals if values["kind"] == "eval" else looks, _point(step, values, EVAL_NUMBERS))
            samples = [earlier for earlier in samples if earlier[0] < step]
            samples.append((step, _samples(values.get("samples"))))
            del samples[1 : len(samples) - MAX_SAMPLES + 1]
    return Metrics(tuple(train), tuple(evals), tuple(samples), tuple(looks))


def _append(points: list[Point], point: Point) -> None:
    while points and points[-1]["step"] >= point["step"]:
        points.pop()
    points.append(point)
    if len(points) > 2 * MAX_POINTS:
        del points[1:-1:2]


def _point(step: int, values: dict[str, Any], names: tuple[str, ...]) -> Point:
    point = {"step": float(step)}
    for name in names:
        value: Any = values.get(name)
        if type(value) in (int, float) and abs(value) < MAX_NUMBER:
            point[name] = float(value)
    return point


def _samples(values: Any) -> tuple[SampleTranslation, ...]:
    items = [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    parts = ("source", "target", "prediction")
    return tuple(
        SampleTranslation(*(str(value.get(part, ""))[:MAX_TEXT] for part in parts)) for value in items[:MAX_SAMPLES]
    )
