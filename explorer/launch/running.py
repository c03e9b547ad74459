"""Records of running servers, in the user's runtime folder, so that a second start opens the first one's server."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock
from platformdirs import user_runtime_path

from explorer.launch.options import LaunchError
from explorer.runs.home import ROOT
from explorer.runs.process import is_alive
from model.folder import write_json

START_SECONDS = 90.0  # how long a start waits for another one that is under way


@dataclass(frozen=True)
class Asked:
    """What makes two starts mean the same server; `port` is 0 if any will do."""

    checkpoints: str
    viewer: bool
    forwarded: tuple[str, ...]
    port: int

    @property
    def key(self) -> str:
        """A file name for everything but the port."""
        told = json.dumps([str(ROOT), self.checkpoints, self.viewer, self.forwarded])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Running:
    """A server: its process (with its start, in seconds since 1970), its port and the address to open."""

    pid: int
    started: float
    port: int
    url: str

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return is_alive(self.pid, self.started)


def runtime_folder() -> Path:
    """The folder of the records: the user's own, which nobody else may write to.

    Raises:
        LaunchError: it cannot be made, or belongs to somebody else.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # about a folder in /tmp, whose owner is looked at below
            folder = user_runtime_path("headlight", appauthor=False, ensure_exists=True)
        about = folder.stat()
    except OSError as error:
        raise LaunchError(
            f"There is no folder for the records of running servers ({error}); name one in XDG_RUNTIME_DIR."
        ) from None
    # Without a session, the system's runtime folder is in /tmp, where anybody may have been first.
    if os.name != "nt" and (about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o022):
        raise LaunchError(f"{folder} can be written by other users; delete it, or name another in XDG_RUNTIME_DIR.")
    return folder


@contextmanager
def one_start_at_a_time() -> Iterator[None]:
    """Hold the lock of all starts of this user; the system frees it if the process is killed.

    Raises:
        LaunchError: another start has held it for too long, or as for :func:`runtime_folder`.
    """
    lock = filelock.FileLock(runtime_folder() / "start.lock")
    try:
        lock.acquire(timeout=START_SECONDS)
    except filelock.Timeout:
        raise LaunchError("Another start of Headlight has not come to an end; stop it and try again.") from None
    try:
        yield
    finally:
        lock.release()


def find(asked: Asked) -> Running | None:
    """The server that runs for the same wishes; a record whose process is gone is deleted."""
    for path in runtime_folder().glob(f"{asked.key}-*.json"):
        found = _read(path)
        if found is None or not found.alive:
            path.unlink(missing_ok=True)
        elif asked.port in (0, found.port):
            return found
    return None


def note(asked: Asked, server: Running) -> None:
    """Record a server that answers."""
    write_json(_path(asked, server), asdict(server))


def forget(asked: Asked, server: Running) -> None:
    """Delete the record of a server that has ended."""
    with suppress(OSError, LaunchError):  # the next start deletes it: its process is gone
        _path(asked, server).unlink(missing_ok=True)


def _path(asked: Asked, server: Running) -> Path:
    return runtime_folder() / f"{asked.key}-{server.port}.json"


def _read(path: Path) -> Running | None:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return Running(int(values["pid"]), float(values["started"]), int(values["port"]), str(values["url"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
