"""The metrics of a run, read from metrics.jsonl while it grows."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.folder import MAX_METRICS_BYTES

CHUNK = 1 << 20  # bytes read at a time; training writes no line longer than this
ANCHOR = 64  # bytes before the current offset: if they differ, the file has been rewritten
MAX_POINTS = 1000  # of each kind; at twice as many, every second one is dropped
MAX_SAMPLES = 8  # evaluations whose sample translations stay in memory: the first and the latest
MAX_STEP = 10**12
MAX_NUMBER = 1e300
_SHORTEST = b'{"step":1}'  # what is shorter is no line of metrics
MAX_TEXT = 400  # characters of a sample sentence

TRAIN_NUMBERS = ("epoch", "seconds", "loss", "nll", "lr", "grad_norm", "tokens_per_s")
EVAL_NUMBERS = ("epoch", "seconds", "loss", "exact_match", "token_accuracy", "bleu")

Point = dict[str, float]


@dataclass(frozen=True)
class SampleTranslation:
    """One validation sentence as the model translated it at an evaluation."""

    source: str
    target: str
    prediction: str


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics so far, oldest first, each step once. `version` changes whenever anything else does.

    `train` points hold step and, where known, epoch, seconds (of training), loss (as optimised, in nats per target
    token), nll (the same without smoothing and consistency), lr, grad_norm, tokens_per_s; `evals` hold step and epoch,
    seconds, loss, exact_match, token_accuracy (0 to 1), bleu (0 to 100). `samples` are pairs of
    step and sample translations of a few evaluations.
    """

    train: tuple[Point, ...] = ()
    evals: tuple[Point, ...] = ()
    samples: tuple[tuple[int, tuple[SampleTranslation, ...]], ...] = ()
    version: int = 0

    @property
    def last_step(self) -> int:
        """The last step with any metrics."""
        return int(max((points[-1]["step"] for points in (self.train, self.evals) if points), default=0))

    def latest(self, kind: str, name: str) -> float | None:
        """The newest value of one number of `train` or `evals`; None where there is none yet."""
        points: tuple[Point, ...] = getattr(self, kind)
        return next((point[name] for point in reversed(points) if name in point), None)


def plain_loss(point: Point) -> float | None:
    """The training loss of a point as validation measures it, or as optimised where only that was logged."""
    return point.get("nll", point.get("loss"))


def logs_plain_loss(metrics: Metrics) -> bool:
    """Whether the run logs the training loss without smoothing and consistency; earlier versions did not."""
    return any("nll" in point for point in metrics.train)


def optimises_another_loss(metrics: Metrics) -> bool:
    """Whether the optimised loss differs from the plain one, by label smoothing or consistency of two views."""
    both = ((point["loss"], point["nll"]) for point in metrics.train if "nll" in point and "loss" in point)
    return any(abs(loss - nll) > 1e-4 * max(abs(nll), 1e-3) for loss, nll in both)


class MetricsReader:
    """Reads one metrics.jsonl incrementally, for all sessions together; only complete lines count.

    What a file has beyond `MAX_METRICS_BYTES`, some 300,000 lines, is not read.

    A resumed run drops the lines after its last save and writes them again. The file is then read from the start, and
    a step that occurs twice replaces everything from there on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._reset()
        self._known = Metrics()

    def _reset(self) -> None:
        self._offset = 0
        self._anchor = b""
        self._train: list[Point] = []
        self._evals: list[Point] = []
        self._samples: list[tuple[int, tuple[SampleTranslation, ...]]] = []

    def read(self) -> Metrics:
        """The metrics so far; costs next to nothing when the file has not grown."""
        with self._lock:
            if self._read_new():
                self._known = Metrics(
                    tuple(self._train), tuple(self._evals), tuple(self._samples), self._known.version + 1
                )
            return self._known

    def _read_new(self) -> bool:
        try:
            if not os.path.isfile(self.path):  # opening a pipe would wait for somebody to write into it
                raise FileNotFoundError
            with open(self.path, "rb") as file:
                changed = False
                if self._offset and not self._continues(file.fileno()):
                    self._reset()
                    changed = True
                file.seek(self._offset)
                return self._read_lines(file) or changed
        except OSError:  # deleted, not readable, or a run of the same name that has logged nothing yet
            had_something = self._offset > 0
            self._reset()
            return had_something

    def _continues(self, number: int) -> bool:
        """Whether the file still begins with what has been read, judged by the last bytes of that."""
        if os.fstat(number).st_size < self._offset:
            return False
        os.lseek(number, self._offset - len(self._anchor), os.SEEK_SET)
        return os.read(number, len(self._anchor)) == self._anchor

    def _read_lines(self, file: Any) -> bool:
        added = False
        while self._offset < MAX_METRICS_BYTES and (piece := file.read(CHUNK)):
            end = piece.rfind(b"\n") + 1
            if not end:
                if len(piece) < CHUNK:
                    break  # an incomplete line: the rest has not been written yet
                end = len(piece)  # an overlong line: skip it piece by piece
            for line in piece[:end].splitlines():
                if len(line) > len(_SHORTEST):
                    added = self._read_line(line) or added
            self._offset += end
            self._anchor = (self._anchor + piece[:end])[-ANCHOR:]
            file.seek(self._offset)
        return added

    def _read_line(self, line: bytes) -> bool:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            return False  # cut off by a kill; the step is repeated when the run is resumed
        if not isinstance(values, dict):
            return False
        step = values.get("step")
        if type(step) is not int or not 0 <= step < MAX_STEP:
            return False
        if values.get("kind") == "train":
            _append(self._train, _point(step, values, TRAIN_NUMBERS))
        elif values.get("kind") == "eval":
            _append(self._evals, _point(step, values, EVAL_NUMBERS))
            self._samples = [known for known in self._samples if known[0] < step]
            self._samples.append((step, _samples(values.get("samples"))))
            del self._samples[1 : len(self._samples) - MAX_SAMPLES + 1]
        else:
            return False
        return True


def _append(points: list[Point], point: Point) -> None:
    while points and points[-1]["step"] >= point["step"]:
        points.pop()
    points.append(point)
    if len(points) > 2 * MAX_POINTS:
        del points[1:-1:2]


def _point(step: int, values: dict[str, Any], names: tuple[str, ...]) -> Point:
    # Not isfinite(): JSON allows integers of hundreds of digits, which do not fit a float.
    known = {name: values[name] for name in names if type(values.get(name)) in (int, float)}
    return {"step": float(step)} | {name: float(value) for name, value in known.items() if abs(value) < MAX_NUMBER}


def _samples(values: Any) -> tuple[SampleTranslation, ...]:
    items = [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    parts = ("source", "target", "prediction")
    return tuple(
        SampleTranslation(*(str(value.get(part, ""))[:MAX_TEXT] for part in parts)) for value in items[:MAX_SAMPLES]
    )
