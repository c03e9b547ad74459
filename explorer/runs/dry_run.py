"""What a run would take, asked of the training command itself before it starts: `--dry-run --json`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from explorer.runs.process import ROOT, RunError, lower_priority, niceness

TIMEOUT_SECONDS = 180.0
MAX_PLANS = 128
MAX_ASKERS = 512
REFUSAL = 2  # the exit code that goes with one sentence for people


class PlanError(ValueError):
    """There is no plan; the message says why.

    `refused` is True where the run itself could not start as it is: the message is then the command's own sentence.
    """

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


@dataclass(frozen=True)
class Plan:
    """What a run would take.

    `memory` in bytes, `seconds` for the whole run on `device_name` at `tokens_per_s` (source and target, without
    padding); `examples` by split; `skipped` training examples that are too long or empty; `schedule` pairs of step and
    learning rate.
    """

    parameters: int
    memory: int
    seconds: float
    steps: int
    epochs: float
    tokens_per_s: float
    device: str
    device_name: str
    precision: str
    src_vocab_size: int
    tgt_vocab_size: int
    skipped: int = 0
    examples: dict[str, int] = field(default_factory=dict)
    schedule: tuple[tuple[int, float], ...] = ()


def read_plan(output: str) -> Plan:
    """The plan in what `--dry-run --json` printed.

    Raises:
        PlanError: that is no plan.
    """
    try:
        values: dict[str, Any] = json.loads(output)
        return Plan(
            parameters=int(values["parameters"]),
            memory=int(values["memory_bytes"]),
            seconds=float(values["seconds"]),
            steps=int(values["steps"]),
            epochs=float(values["epochs"]),
            tokens_per_s=float(values["tokens_per_s"]),
            device=str(values["device"]),
            device_name=str(values["device_name"]),
            precision=str(values["precision"]),
            src_vocab_size=int(values["src_vocab_size"]),
            tgt_vocab_size=int(values["tgt_vocab_size"]),
            skipped=int(values.get("skipped", 0)),
            examples={str(split): int(count) for split, count in values.get("examples", {}).items()},
            schedule=tuple((int(step), float(rate)) for step, rate in values.get("schedule", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"The training command printed no plan ({error}); start it on a terminal to see why.") from None


def run_trial(command: Sequence[str]) -> Plan:
    """Run the command (beginning with "python") to its end and read its plan.

    Raises:
        PlanError: it refused, failed, or took too long.
    """
    try:
        nice = niceness()
    except RunError as error:
        raise PlanError(str(error)) from None
    process = subprocess.Popen(
        [sys.executable, *command[1:]],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    lower_priority(process.pid, nice)
    try:
        output, said = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise PlanError(
            f"Estimating took more than {TIMEOUT_SECONDS:.0f} seconds and was given up; the run may start all the same."
        ) from None
    if process.returncode:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        said_why = process.returncode == REFUSAL and bool(lines)
        raise PlanError(lines[-1] if lines else "The training command failed without a word.", refused=said_why)
    return read_plan(output)


class PlanDesk:
    """Answers questions for plans one at a time, and remembers the answers; all sessions share one desk.

    A question that nobody waits for any more, because its asker has changed something since, is passed over.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="plan")
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, ...], Future[Plan | None]] = OrderedDict()
        self._wanted: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def ask(self, asker: str, command: Sequence[str]) -> Plan | PlanError | None:
        """The plan of this command, why there is none, or None while that is not known yet; never waits."""
        key = tuple(command)
        with self._lock:
            self._wanted[asker] = key
            self._wanted.move_to_end(asker)
            while len(self._wanted) > MAX_ASKERS:
                self._wanted.popitem(last=False)
            answer = self._answers.get(key)
            if answer is None or (answer.done() and _passed_over(answer)):
                answer = self._answers[key] = self._worker.submit(self._answer, key)
            self._answers.move_to_end(key)
            while len(self._answers) > MAX_PLANS:
                self._answers.popitem(last=False)
        if not answer.done():
            return None
        error = answer.exception()
        if error is None:
            return answer.result()
        return error if isinstance(error, PlanError) else PlanError(f"The estimate failed: {error}.")

    def forget(self, command: Sequence[str]) -> None:
        """Let the next question for this plan be asked anew, where the last answer was a failure of the estimate."""
        with self._lock:
            answer = self._answers.get(tuple(command))
            if answer is not None and answer.done():
                del self._answers[tuple(command)]

    def _answer(self, key: tuple[str, ...]) -> Plan | None:
        with self._lock:
            if key not in self._wanted.values():
                return None
        return run_trial(key)


def _passed_over(answer: Future[Plan | None]) -> bool:
    return answer.exception() is None and answer.result() is None
