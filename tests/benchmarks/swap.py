"""The time until `adjective-swap` gets every held-out sentence right, with the settings that the page proposes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.benchmarks.registry import Row, benchmark
from tests.paths import ROOT

TASK, TARGET_SECONDS = "adjective-swap", 120.0


def command(*more: str) -> list[str]:
    """The training command, as in the README."""
    return [sys.executable, "-m", "model.train", "--task", TASK, *more]


@benchmark("swap")
def measure() -> list[Row]:
    """The whole command, including process start and final test, beside its own estimate."""
    with tempfile.TemporaryDirectory() as folder:
        where = ["--checkpoints", folder, "--name", "swap"]
        plan = subprocess.run(
            command(*where, "--dry-run", "--json"), cwd=ROOT, capture_output=True, text=True, check=True
        )
        start = perf_counter()
        subprocess.run(command(*where), cwd=ROOT, capture_output=True, check=True)
        seconds = perf_counter() - start
        results = json.loads((Path(folder) / "swap" / "config.json").read_text(encoding="utf-8"))["results"]
    exact, n = results["test"]["exact_match"], results["test"]["sentences"]
    return [
        Row(
            measure=f"{TASK} from nothing to a tested model, default settings",
            ours=seconds,
            unit="s",
            other=json.loads(plan.stdout)["seconds"],
            against="its own estimate beforehand",
            target=f"≥ 99 % exact match in under {TARGET_SECONDS:.0f} s on 2 cores",
            met=seconds < TARGET_SECONDS and exact >= 0.99,
            detail=f"{100 * exact:.1f} % of {n} held-out sentences exactly right, {results['trained_steps']:,} updates",
        )
    ]
