"""The command of a run: what somebody would type, made from what was chosen on the page."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.runs.process import ROOT

TRAIN = ("python", "-m", "model.train")


@dataclass(frozen=True)
class Order:
    """What to train: a task, a preset to start from, and what is changed in it.

    `changes` are pairs of setting and value as they stand after `--set`; `data` are further words for data of one's
    own, such as ("--data", "pairs.tsv"); `init` the model to start from, none if empty.
    """

    name: str
    task: str
    preset: str
    changes: tuple[tuple[str, str], ...] = ()
    device: str = "auto"
    data: tuple[str, ...] = ()
    init: str = ""
    precision: str = "auto"
    compile: bool = False

    def command(self, checkpoints: Path) -> list[str]:
        """The whole command, beginning with "python"."""
        words = [*TRAIN, "--task", self.task, "--name", self.name, "--preset", self.preset, *self.data]
        if self.init:
            words += ["--init", self.init]
        if self.changes:
            words += ["--set", *(f"{key}={value}" for key, value in self.changes)]
        if self.device != "auto":
            words += ["--device", self.device]
        if self.precision != "auto":
            words += ["--precision", self.precision]
        if self.compile:
            words.append("--compile")
        return words + _where(checkpoints)

    def trial(self, checkpoints: Path) -> list[str]:
        """The command that says what the run would take, and writes nothing."""
        return [*self.command(checkpoints), "--dry-run", "--json"]


def resume_command(name: str, checkpoints: Path) -> list[str]:
    """The command that lets a stopped run go on."""
    return [*TRAIN, "--resume", name, *_where(checkpoints)]


def _where(checkpoints: Path) -> list[str]:
    """Nothing for the folder that the command uses by itself, since it is started in the project's folder."""
    return [] if checkpoints.resolve() == ROOT / "checkpoints" else ["--checkpoints", str(checkpoints)]


def shown(command: Sequence[str]) -> str:
    """The command as this system's terminal takes it."""
    return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)
