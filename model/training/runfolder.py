"""The files of a run that other processes read while it runs (status, metrics, stop request), and the queue of runs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import psutil
from filelock import BaseFileLock, FileLock, Timeout

from model.folder import (
    MAX_METRICS_BYTES,
    METRICS,
    PROBE,
    SNAPSHOTS,
    STATE,
    STATUS,
    STOP,
    CheckpointError,
    label,
    read_bytes,
    read_json,
    sweep_drafts,
    write_bytes,
    write_json,
)
from model.metrics import flat

RunState = Literal["queued", "running", "stopping", "stopped", "finished", "failed"]
ACTIVE: tuple[RunState, ...] = ("queued", "running", "stopping")

LOCK, LINE = ".training.lock", ".training.line"
STATUS_SECONDS = 1.0


class RunFolder:
    """Writes status.json and metrics.jsonl of a run and watches its stop file; owned by a single process.

    `constants` are further fields of status.json.
    """

    def __init__(self, folder: Path, **constants: Any) -> None:
        self.folder = folder
        self._status: dict[str, Any] = {
            **constants,
            "state": None,
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "error": None,
        }
        self._written_at = float("-inf")

    def status(self, state: RunState | None = None, **values: Any) -> None:
        """Update fields of status.json; it is written at once for a new state, and otherwise at most once a second."""
        changed = state is not None and state != self._status["state"]
        self._status |= flat(values) | ({"state": state} if state is not None else {})
        if changed or time.monotonic() - self._written_at >= STATUS_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write status.json as it is now."""
        self._written_at = time.monotonic()
        write_json(self.folder / STATUS, self._status | {"updated": time.time()})

    def stop_requested(self) -> bool:
        """Whether there is a stop file."""
        return (self.folder / STOP).exists()

    def clear_stop(self) -> None:
        """Delete an earlier stop request."""
        (self.folder / STOP).unlink(missing_ok=True)

    def log(self, kind: Literal["train", "eval", "look"], step: int, **values: Any) -> None:
        """Append one line to metrics.jsonl."""
        line = json.dumps({"kind": kind, "step": step, **flat(values)}, ensure_ascii=False, allow_nan=False)
        with open(self.folder / METRICS, "ab") as file:
            file.write(line.encode() + b"\n")

    def forget_after(self, step: int) -> None:
        """Drop metrics after `step`, which a resumed run repeats, and temporary files of a killed process."""
        for folder in (self.folder, self.folder / STATE, self.folder / SNAPSHOTS):
            sweep_drafts(folder, keep=(PROBE, STOP))  # a page may be writing these right now
        path = self.folder / METRICS
        lines = [line for line in read_metrics(path) if line["step"] <= step]
        write_bytes(path, b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics.jsonl, without one that was cut off while being written.

    Raises:
        CheckpointError: the file is larger than `MAX_METRICS_BYTES`.
    """
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for text in read_bytes(path, MAX_METRICS_BYTES).decode("utf-8", "replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue  # cut off when the process was killed; a resumed run repeats the step
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            lines.append(line)
    return lines


def read_status(folder: Path) -> dict[str, Any]:
    """status.json, or an empty dictionary for a model without a run.

    Raises:
        CheckpointError: status.json is damaged.
    """
    return read_json(folder / STATUS) if (folder / STATUS).is_file() else {}


def is_alive(folder: Path) -> bool:
    """Whether the process that wrote status.json is alive; its start time is compared, since pids are reused.

    Raises:
        CheckpointError: status.json is damaged.
    """
    status = read_status(folder)
    pid, started = status.get("pid"), status.get("started")
    if status.get("state") not in ACTIVE or not isinstance(pid, int) or not isinstance(started, (int, float)):
        return False
    return _is_process(pid, started)


def _is_process(pid: int, started: float) -> bool:
    """Whether the process with this id is alive and was started at this time, in seconds since 1970."""
    try:
        process = psutil.Process(pid)
        # A process that has ended remains as a zombie until its parent waits for it.
        return abs(process.create_time() - started) < 2.0 and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OverflowError):  # OverflowError: not a possible pid
        return False


def refuse_running(folder: Path) -> None:
    """Raise a CheckpointError if another process is training the run."""
    if is_alive(folder) and read_status(folder).get("pid") != os.getpid():
        raise CheckpointError("{label} is being trained right now; stop it first.", label=label(folder))


@contextmanager
def turn(
    checkpoints: Path, on_wait: Callable[[], None], keep_waiting: Callable[[], bool], *, wait: bool = True
) -> Iterator[bool]:
    """Wait for the lock that lets one run at a time train in this checkpoints folder; yield whether to train.

    Waiting runs take turns in the order in which their processes were started. `on_wait` is called once if the run has
    to wait; False is yielded if `keep_waiting` turns false meanwhile. With `wait=False` the run starts in any case. The
    system releases the lock of a process that dies.
    """
    checkpoints.mkdir(parents=True, exist_ok=True)
    lock = FileLock(checkpoints / LOCK)
    ticket = _take_ticket(checkpoints) if wait else None
    try:
        if ticket is None:
            _acquire(lock)
        may_train = ticket is None or (_is_next(ticket) and _acquire(lock))
        if not may_train:
            on_wait()
        while not may_train and keep_waiting():
            time.sleep(0.2)
            may_train = ticket is None or (_is_next(ticket) and _acquire(lock))
        if ticket is not None:
            ticket.unlink(missing_ok=True)
        yield may_train
    finally:
        if ticket is not None:
            ticket.unlink(missing_ok=True)
        lock.release()


def _take_ticket(checkpoints: Path) -> Path:
    """Create an empty file named by this process's start time (in milliseconds since 1970) and its id."""
    folder = checkpoints / LINE
    folder.mkdir(exist_ok=True)
    ticket = folder / f"{1000 * psutil.Process().create_time():015.0f}-{os.getpid()}"
    ticket.touch()
    return ticket


def _is_next(ticket: Path) -> bool:
    """Whether no living process has an earlier ticket; tickets of processes that have died are removed."""
    for earlier in sorted(path for path in ticket.parent.iterdir() if path.name < ticket.name):
        started, _, pid = earlier.name.partition("-")
        if started.isdecimal() and pid.isdecimal() and _is_process(int(pid), int(started) / 1000):
            return False
        earlier.unlink(missing_ok=True)
    return True


def _acquire(lock: BaseFileLock) -> bool:
    """Try to acquire the lock, and return whether it worked."""
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True
