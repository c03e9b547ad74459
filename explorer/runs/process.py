"""Training processes as the system knows them: started apart from the page, recognised again by pid and start time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from model.folder import write_json

ROOT = Path(__file__).resolve().parents[2]
LAUNCHES = ".launches"  # inside the checkpoints folder; hidden, so that no model can have this name
# A clock that is set right moves the start of every process; a pid is given out again only much later.
SAME_START_SECONDS = 30.0
MAX_LOG_BYTES = 16_384
NICENESS = "HEADLIGHT_NICE"  # how far training steps back for the page, 0 to 19

_exit_codes: dict[int, int] = {}  # of processes that this server started and saw end


class RunError(ValueError):
    """Something that cannot be done with a run; the message says why."""


@dataclass(frozen=True)
class Launch:
    """A process that some page started for the run called `name`, and when (seconds since 1970)."""

    name: str
    pid: int
    started: float
    arguments: tuple[str, ...]

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return is_alive(self.pid, self.started)


def start_process(checkpoints: Path, name: str, arguments: Sequence[str]) -> Launch:
    """Start `python -m …` so that it outlives this server, at low priority, and remember it beside the models.

    Its output goes to a log that :func:`last_words` reads.

    Raises:
        RunError: HEADLIGHT_NICE is no niceness.
    """
    nice = niceness()
    folder = checkpoints / LAUNCHES
    folder.mkdir(parents=True, exist_ok=True)
    with open(_log(checkpoints, name), "wb") as log:
        process = subprocess.Popen(
            [sys.executable, *arguments[1:]],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            **_apart(),
        )
    started = lower_priority(process.pid, nice)
    threading.Thread(target=_reap, args=(process,), daemon=True).start()
    launch = Launch(name, process.pid, started, tuple(arguments))
    write_json(
        folder / f"{name}.json", {"pid": launch.pid, "started": launch.started, "arguments": list(launch.arguments)}
    )
    return launch


def _apart() -> dict[str, Any]:
    """What keeps a child alive when the terminal or the server goes: a session, or on Windows a group, of its own."""
    if os.name == "nt":
        flags = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW", "BELOW_NORMAL_PRIORITY_CLASS")
        return {"creationflags": sum(getattr(subprocess, flag) for flag in flags)}
    return {"start_new_session": True}


def niceness() -> int:
    """How far training steps back for the page: HEADLIGHT_NICE from 0 (not at all) to 19, or 10.

    Raises:
        RunError: it is something else.
    """
    given = os.environ.get(NICENESS, "10")
    if not re.fullmatch("1?[0-9]", given):
        raise RunError(f"{NICENESS} is '{given}'; it must be a whole number from 0 to 19. Nothing was started.")
    return int(given)


def lower_priority(pid: int, nice: int) -> float:
    """Make a new process yield to others; returns when it started."""
    try:
        process = psutil.Process(pid)
        if os.name != "nt":
            process.nice(max(nice, process.nice()))  # going forward again needs rights
            _lower_session(pid, nice)
        return float(process.create_time())
    except (psutil.Error, ProcessLookupError):
        return time.time()  # it has ended already, and its log says why


def _lower_session(pid: int, nice: int) -> None:
    """Linux may share the cores among sessions first, and looks at niceness only within each: sched(7), autogroup."""
    if os.getsid(pid) != pid:
        return  # its session is the server's
    with suppress(OSError):  # no such file: another system, or sessions are not treated so here
        Path(f"/proc/{pid}/autogroup").write_text(str(nice), encoding="ascii")


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for a child's end: otherwise it would stay in the process table as if alive."""
    _exit_codes[process.pid] = process.wait()


def exit_code(pid: int) -> int | None:
    """How a process that this server started ended (negative: by which signal); None where that is not known."""
    return _exit_codes.get(pid)


def is_alive(pid: int, started: float) -> bool:
    """Whether the process of this pid is the one that started then; a pid may be given out again."""
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started) < SAME_START_SECONDS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):  # the last two: a number that no process can have
        return False


def terminate(launch: Launch) -> None:
    """End a process that has no run folder yet, and so cannot see a stop file."""
    if launch.alive:
        psutil.Process(launch.pid).terminate()


def launches(checkpoints: Path) -> list[Launch]:
    """All that was started from a page and not forgotten, by name."""
    names = sorted(path.name.removesuffix(".json") for path in (checkpoints / LAUNCHES).glob("*.json"))
    return [launch for name in names if (launch := read_launch(checkpoints, name)) is not None]


def read_launch(checkpoints: Path, name: str) -> Launch | None:
    """The process that a page last started for this run; None where there is none, or its record makes no sense."""
    try:
        values = json.loads((checkpoints / LAUNCHES / f"{name}.json").read_text(encoding="utf-8"))
        return Launch(name, int(values["pid"]), float(values["started"]), tuple(map(str, values["arguments"])))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def forget_launch(checkpoints: Path, name: str) -> None:
    """Remove what is remembered about the processes of a run."""
    (checkpoints / LAUNCHES / f"{name}.json").unlink(missing_ok=True)
    _log(checkpoints, name).unlink(missing_ok=True)


def _log(checkpoints: Path, name: str) -> Path:
    return checkpoints / LAUNCHES / f"{name}.log"


def last_words(checkpoints: Path, name: str) -> list[str]:
    """The last lines that the run's process wrote, oldest first; none where it wrote nothing."""
    path = _log(checkpoints, name)
    if not path.is_file():
        return []
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_LOG_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
