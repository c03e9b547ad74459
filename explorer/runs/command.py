"""Build the command of a run, as one would type it, from the choices on the page."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.locale.messages import message
from explorer.runs.home import INSTALLED, ROOT
from explorer.runs.settings import Changes
from model.commands import subcommand_of
from model.folder import real_path

TRAIN = ("python", "-m", "model.train")
IN_TERMINAL, IN_FOLDER = message("in a terminal"), message("in a terminal, in the project's folder")
WHERE = IN_TERMINAL if INSTALLED else IN_FOLDER


@dataclass(frozen=True)
class TrainingOrder:
    """What to train: a task, a preset to start from, and the changes to it.

    `changes` are pairs of setting and value as written after `--set`; `data` are further arguments for a user's own
    data, such as ("--data", "pairs.tsv"); `init` is the model whose weights to start from, or empty.
    """

    name: str
    task: str
    preset: str
    changes: Changes = ()
    device: str = "auto"
    data: tuple[str, ...] = ()
    init: str = ""
    precision: str = "auto"

    def command(self, checkpoints: Path) -> list[str]:
        """The whole command, beginning with "python"."""
        arguments = [*TRAIN, "--task", self.task, "--name", self.name, "--preset", self.preset, *self.data]
        arguments += [*_option("--init", self.init), *_set(self.changes)]
        for name, value in (("--device", self.device), ("--precision", self.precision)):
            arguments += _option(name, value.removeprefix("auto"))
        return [*arguments, *_where(checkpoints)]

    def trial(self, checkpoints: Path) -> list[str]:
        """The command that estimates the run and writes nothing."""
        return [*self.command(checkpoints), "--dry-run", "--json"]


def resume_command(name: str, checkpoints: Path) -> list[str]:
    """The command that continues a stopped run."""
    return [*TRAIN, "--resume", name, *_where(checkpoints)]


def like_command(name: str, new: str, changes: Changes, checkpoints: Path) -> list[str]:
    """The command that trains a new model as `name` was trained."""
    return [*TRAIN, "--like", name, "--name", new, *_set(changes), *_where(checkpoints)]


def longer_command(name: str, steps: int, checkpoints: Path) -> list[str]:
    """The command that trains a finished run longer, to this number of updates in total."""
    return [*TRAIN, "--resume", name, "--steps", str(steps), *_where(checkpoints)]


def _option(name: str, *values: str) -> list[str]:
    """An option with its values; empty without values."""
    return [name, *values] if any(values) else []


def _set(changes: Changes) -> list[str]:
    return _option("--set", *(f"{key}={value}" for key, value in changes))


def _where(checkpoints: Path) -> list[str]:
    """The `--checkpoints` argument; empty for the default of the command, which is started in the project's folder."""
    return [] if real_path(checkpoints) == ROOT / "checkpoints" else ["--checkpoints", str(checkpoints)]


def quoted_command(command: Sequence[str]) -> str:
    """Write a command as one would type it here, quoted for this system's terminal."""
    name = subcommand_of(command[2]) if list(command[1:2]) == ["-m"] else ""
    if INSTALLED and name:
        command = ["headlight", name, *command[3:]]
    return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)
