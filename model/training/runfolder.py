"""The files of one run that others read while it goes: status, metrics, the stop request; and the lock of a queue."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import psutil

from model.folder import (
    METRICS,
    PROBE,
    SNAPSHOTS,
    STATE,
    STATUS,
    STOP,
    CheckpointError,
    label,
    read_json,
    sweep_drafts,
    write_bytes,
    write_json,
)
from model.metrics import flat

RunState = Literal["queued", "running", "stopping", "stopped", "finished", "failed"]
ACTIVE: tuple[RunState, ...] = ("queued", "running", "stopping")

LOCK = ".training.lock"
STATUS_SECONDS = 1.0


class RunFolder:
    """Writes status.json and metrics.jsonl of one run and looks for its stop file. Only one process may own one."""

    def __init__(self, folder: Path, **remembered: Any) -> None:
        self.folder = folder
        self._status: dict[str, Any] = {
            **remembered,
            "state": None,
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "error": None,
        }
        self._written_at = float("-inf")

    def status(self, state: RunState | None = None, **values: Any) -> None:
        """Change fields of status.json and write it: at once for a new state, otherwise at most once a second."""
        changed = state is not None and state != self._status["state"]
        self._status |= flat(values) | ({"state": state} if state is not None else {})
        if changed or time.monotonic() - self._written_at >= STATUS_SECONDS:
            self._written_at = time.monotonic()
            write_json(self.folder / STATUS, self._status | {"updated": time.time()})

    def stop_requested(self) -> bool:
        """Whether somebody left a stop file."""
        return (self.folder / STOP).exists()

    def clear_stop(self) -> None:
        """Forget an earlier stop request."""
        (self.folder / STOP).unlink(missing_ok=True)

    def log(self, kind: Literal["train", "eval"], step: int, **values: Any) -> None:
        """Append one line to metrics.jsonl."""
        line = json.dumps({"kind": kind, "step": step, **flat(values)}, ensure_ascii=False, allow_nan=False)
        with open(self.folder / METRICS, "ab") as file:
            file.write(line.encode() + b"\n")

    def forget_after(self, step: int) -> None:
        """Drop metrics of steps after `step`, which a resumed run does again, and what a kill left half-written."""
        for folder in (self.folder, self.folder / STATE, self.folder / SNAPSHOTS):
            sweep_drafts(folder, keep=(PROBE, STOP))  # a page may be writing these just now
        path = self.folder / METRICS
        kept = [line for line in read_metrics(path) if line["step"] <= step]
        write_bytes(path, b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in kept))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics.jsonl; one that was cut off while being written is left out."""
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue  # torn by a kill; the step is done again
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            lines.append(line)
    return lines


def read_status(folder: Path) -> dict[str, Any]:
    """status.json, or an empty dictionary for a model that no run stands behind (any more).

    Raises:
        CheckpointError: status.json is damaged.
    """
    return read_json(folder / STATUS) if (folder / STATUS).is_file() else {}


def is_alive(folder: Path) -> bool:
    """Whether the process that status.json names is still the one that wrote it (a pid may be given out again).

    Raises:
        CheckpointError: status.json is damaged.
    """
    status = read_status(folder)
    pid, started = status.get("pid"), status.get("started")
    if status.get("state") not in ACTIVE or not isinstance(pid, int) or not isinstance(started, (int, float)):
        return False
    try:
        process = psutil.Process(pid)
        # One that has ended stays listed until its parent asks how.
        return abs(process.create_time() - started) < 2.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def refuse_running(folder: Path) -> None:
    """Refuse to touch a run that another process is busy with.

    Raises:
        CheckpointError: the run is alive.
    """
    if is_alive(folder) and read_status(folder).get("pid") != os.getpid():
        raise CheckpointError(f"{label(folder)} is being trained right now; stop it first.")


@contextmanager
def turn(
    checkpoints: Path, on_wait: Callable[[], None], keep_waiting: Callable[[], bool], *, wait: bool = True
) -> Iterator[bool]:
    """Wait for the only place to train in this checkpoints folder; the system frees it when the holder dies.

    `on_wait` is called once if there is a wait; False is yielded when `keep_waiting` turns false meanwhile. Without
    `wait` the place is taken as a second one.
    """
    checkpoints.mkdir(parents=True, exist_ok=True)
    with open(checkpoints / LOCK, "a+b") as file:
        mine = _try_lock(file) or not wait
        if not mine:
            on_wait()
        while not mine and keep_waiting():
            time.sleep(0.2)
            mine = _try_lock(file)
        yield mine


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
