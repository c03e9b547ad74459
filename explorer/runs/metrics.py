"""What a run wrote down about itself while it trained, read as it grows: metrics.jsonl."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHUNK = 1 << 20  # bytes read at a time; a line longer than this is no line that training writes
ANCHOR = 64  # bytes before the place read so far: when they differ, the file was written anew
MAX_POINTS = 1000  # of each kind; beyond twice as many, every second one goes
MAX_SAMPLES = 8  # evaluations whose sample translations are kept: the first and the last ones
MAX_STEP = 10**12
MAX_NUMBER = 1e300
MAX_TEXT = 400  # characters of a sample sentence

TRAIN_NUMBERS = ("epoch", "loss", "lr", "grad_norm", "tokens_per_s")
EVAL_NUMBERS = ("epoch", "loss", "exact_match", "token_accuracy", "bleu")

Point = dict[str, float]


@dataclass(frozen=True)
class Sample:
    """One validation sentence as the model translated it at an evaluation."""

    source: str
    target: str
    prediction: str


@dataclass(frozen=True, eq=False)
class Metrics:
    """A run so far, oldest first, each step once. `version` changes whenever anything else does.

    `train` points hold step and, where known, epoch, loss (nats per target token), lr, grad_norm, tokens_per_s;
    `evals` hold step and epoch, loss, exact_match, token_accuracy (0 to 1), bleu (0 to 100). `samples` are pairs of
    step and sample translations of a few evaluations.
    """

    train: tuple[Point, ...] = ()
    evals: tuple[Point, ...] = ()
    samples: tuple[tuple[int, tuple[Sample, ...]], ...] = ()
    version: int = 0

    @property
    def last_step(self) -> int:
        """The last step that anything is known about."""
        return int(max((points[-1]["step"] for points in (self.train, self.evals) if points), default=0))

    def latest(self, kind: str, name: str) -> float | None:
        """The newest value of one number of `train` or `evals`; None where there is none yet."""
        points: tuple[Point, ...] = getattr(self, kind)
        return next((point[name] for point in reversed(points) if name in point), None)


class MetricsReader:
    """Reads one metrics.jsonl piece by piece, for all sessions together; only whole lines count.

    A resumed run drops the lines after its last save and writes them again: the file is then read from the start, and
    a step that comes twice replaces what was known from there on.
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
        self._samples: list[tuple[int, tuple[Sample, ...]]] = []

    def read(self) -> Metrics:
        """All that is known now; costs next to nothing when the file has not grown."""
        with self._lock:
            if self._take_news():
                self._known = Metrics(
                    tuple(self._train), tuple(self._evals), tuple(self._samples), self._known.version + 1
                )
            return self._known

    def _take_news(self) -> bool:
        try:
            with open(self.path, "rb") as file:
                changed = False
                if self._offset and not self._continues(file.fileno()):
                    self._reset()
                    changed = True
                file.seek(self._offset)
                return self._take_lines(file) or changed
        except FileNotFoundError:  # deleted, or a run of the same name that has logged nothing yet
            had_something = self._offset > 0
            self._reset()
            return had_something

    def _continues(self, number: int) -> bool:
        """Whether the file still begins with what was read of it, judged by the last bytes of that."""
        if os.fstat(number).st_size < self._offset:
            return False
        os.lseek(number, self._offset - len(self._anchor), os.SEEK_SET)
        return os.read(number, len(self._anchor)) == self._anchor

    def _take_lines(self, file: Any) -> bool:
        taken = False
        while piece := file.read(CHUNK):
            end = piece.rfind(b"\n") + 1
            if not end:
                if len(piece) < CHUNK:
                    break  # half a line: the rest is still to come
                end = len(piece)  # a line beyond all measure: skip it piece by piece
            for line in piece[:end].splitlines():
                taken = self._take_line(line) or taken
            self._offset += end
            self._anchor = (self._anchor + piece[:end])[-ANCHOR:]
            file.seek(self._offset)
        return taken

    def _take_line(self, line: bytes) -> bool:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            return False  # torn by a kill; the step is done again when the run goes on
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
    numbers = {name: values.get(name) for name in names}
    return {"step": float(step)} | {
        name: float(value)
        for name, value in numbers.items()
        # Not isfinite(): whole numbers of hundreds of digits are JSON, too, and no float.
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MAX_NUMBER
    }


def _samples(values: Any) -> tuple[Sample, ...]:
    found = [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    parts = ("source", "target", "prediction")
    return tuple(Sample(*(str(value.get(part, ""))[:MAX_TEXT] for part in parts)) for value in found[:MAX_SAMPLES])
