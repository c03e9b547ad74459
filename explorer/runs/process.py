"""Start training processes that outlive the page, and recognise them later by pid and start time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil

from explorer.runs.home import ROOT
from model.commands import AS_DATA
from model.folder import read_json, write_json
from model.user_error import UserError
from model.wording import Later, from_data

LAUNCHES = ".launches"  # inside the checkpoints folder; hidden, so that no model can have this name
# Adjusting the clock shifts every start time; a pid is reused only much later.
SAME_START_SECONDS = 30.0
MAX_LOG_BYTES = 16_384
NICENESS = "HEADLIGHT_NICE"  # the niceness of training started from a page, 0 to 19

_exit_codes: dict[int, int] = {}  # of processes that this server started and that have ended


class RunError(UserError):
    """The action is not possible on this run; the message says why."""


@dataclass(frozen=True)
class Launch:
    """A process started from a page for the run called `name`, and when (seconds since 1970).

    `words` are the arguments of all processes of the run so far: some name the files that it was started with.
    """

    name: str
    pid: int
    started: float
    arguments: tuple[str, ...]
    words: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return is_alive(self.pid, self.started)


def start_process(checkpoints: Path, name: str, arguments: Sequence[str]) -> Launch:
    """Start `python -m …` at low priority so that it outlives this server, and record it beside the models.

    Its output goes to a log that :func:`last_lines` reads.

    Raises:
        RunError: HEADLIGHT_NICE is not a valid niceness.
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
            env=environment(),
            **_detached(),
        )
    started = lower_priority(process.pid, nice)
    threading.Thread(target=_reap, args=(process,), daemon=True).start()
    earlier = read_launch(checkpoints, name)
    words = tuple(dict.fromkeys((*arguments, *(earlier.words if earlier else ()))))
    launch = Launch(name, process.pid, started, tuple(arguments), words)
    record = {"pid": launch.pid, "started": started, "arguments": list(arguments), "words": list(words)}
    write_json(folder / f"{name}.json", record)
    return launch


def environment() -> dict[str, str]:
    """The environment of a command whose refusal :func:`last_sentence` reads."""
    return os.environ | {AS_DATA: "1"}


def last_sentence(lines: Sequence[str]) -> Later:
    """The last of the lines that a command printed, which can be written in other languages if it is a refusal."""
    if len(lines) > 1 and lines[-2].startswith('{"message"'):
        with suppress(msgspec.DecodeError):
            if text := from_data(msgspec.json.decode(lines[-2])):
                return text
    return Later(lines[-1] if lines else "")


def _detached() -> dict[str, Any]:
    """The options that let a child outlive terminal and server: its own session, or on Windows its own group."""
    if os.name == "nt":
        flags = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW", "BELOW_NORMAL_PRIORITY_CLASS")
        return {"creationflags": sum(getattr(subprocess, flag) for flag in flags)}
    return {"start_new_session": True}


def niceness() -> int:
    """The niceness of training started from a page: HEADLIGHT_NICE from 0 (normal priority) to 19; 10 by default.

    Raises:
        RunError: the variable holds anything else.
    """
    given = os.environ.get(NICENESS, "10")
    if not re.fullmatch("1?[0-9]", given):
        raise RunError(
            "{niceness} is '{given}'; it must be a whole number from 0 to 19. Nothing was started.",
            niceness=NICENESS,
            given=given,
        )
    return int(given)


def lower_priority(pid: int, nice: int) -> float:
    """Lower the priority of a new process; returns when it started, in seconds since 1970."""
    try:
        process = psutil.Process(pid)
        if os.name != "nt":
            process.nice(max(nice, process.nice()))  # raising the priority needs privileges
            _lower_session(pid, nice)
        return float(process.create_time())
    except (psutil.Error, ProcessLookupError):
        return time.time()  # it has already ended, and its log says why


def _lower_session(pid: int, nice: int) -> None:
    """Lower the priority of a session on Linux, where autogroups limit niceness to the session: sched(7)."""
    if os.getsid(pid) != pid:
        return  # it shares the server's session
    with suppress(OSError):  # no such file: another system, or autogroups are off
        Path(f"/proc/{pid}/autogroup").write_text(str(nice), encoding="ascii")


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for a child to end, so that it does not become a zombie, and store its exit code."""
    _exit_codes[process.pid] = process.wait()


def exit_code(pid: int) -> int | None:
    """The exit code of a process that this server started (negative: the signal); None if it is unknown."""
    return _exit_codes.get(pid)


def is_alive(pid: int, started: float) -> bool:
    """Whether the process with this pid is running and started at this time; pids are reused."""
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started) < SAME_START_SECONDS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):  # the last two: not a possible pid
        return False


def free_name(wanted: str, taken: Callable[[str], bool]) -> str:
    """`wanted`, or the first name among wanted-2, wanted-3 … that is not taken."""
    return next(name for name in (wanted, *(f"{wanted}-{n}" for n in range(2, 10_000))) if not taken(name))


def terminate(launch: Launch) -> None:
    """End a process that has no run folder yet, so that it could not see a stop file."""
    if launch.alive:
        psutil.Process(launch.pid).terminate()


def launches(checkpoints: Path) -> list[Launch]:
    """All recorded processes, sorted by name."""
    names = sorted(path.name.removesuffix(".json") for path in (checkpoints / LAUNCHES).glob("*.json"))
    return [launch for name in names if (launch := read_launch(checkpoints, name)) is not None]


def read_launch(checkpoints: Path, name: str) -> Launch | None:
    """Read the record of the process last started from a page for this run; None without a readable one."""
    try:
        values = read_json(checkpoints / LAUNCHES / f"{name}.json")
        arguments = tuple(map(str, values["arguments"]))
        words = tuple(map(str, values.get("words", arguments)))  # earlier versions wrote none
        return Launch(name, int(values["pid"]), float(values["started"]), arguments, words)
    except (ValueError, KeyError, TypeError, OverflowError):  # a CheckpointError is a ValueError
        return None


def rename_launch(checkpoints: Path, name: str, new: str) -> None:
    """Rename the record of a run's processes, and delete their log, which names the run as before."""
    with suppress(FileNotFoundError):  # it was started from a terminal
        os.replace(checkpoints / LAUNCHES / f"{name}.json", checkpoints / LAUNCHES / f"{new}.json")
    _log(checkpoints, name).unlink(missing_ok=True)


def forget_launch(checkpoints: Path, name: str) -> None:
    """Delete the record and the log of a run's processes."""
    (checkpoints / LAUNCHES / f"{name}.json").unlink(missing_ok=True)
    _log(checkpoints, name).unlink(missing_ok=True)


def _log(checkpoints: Path, name: str) -> Path:
    return checkpoints / LAUNCHES / f"{name}.log"


def last_lines(checkpoints: Path, name: str) -> list[str]:
    """The last lines that the run's process printed, oldest first."""
    path = _log(checkpoints, name)
    if not path.is_file():
        return []
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_LOG_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
