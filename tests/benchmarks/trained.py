"""The training command in a new process, as the Train page starts it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.paths import ROOT


@dataclass(frozen=True)
class Trained:
    """Seconds from the command to its end, those of the processor, the results, and what it said on standard error."""

    seconds: float
    processor: float
    results: dict[str, Any]
    said: str


def train(folder: Path, name: str, *arguments: str) -> Trained:
    began, before = perf_counter(), _children_times()
    done = run("--checkpoints", str(folder), "--name", name, *arguments)
    seconds, processor = perf_counter() - began, _children_times() - before
    config = json.loads((folder / name / "config.json").read_text(encoding="utf-8"))
    return Trained(seconds, processor, config["results"], done.stderr)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "model.train", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def _children_times() -> float:
    """Processor seconds of the child processes that have ended: what a busy machine does not change."""
    times = os.times()
    return times.children_user + times.children_system
