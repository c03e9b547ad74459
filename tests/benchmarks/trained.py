"""The training command in a new process, as the Train page starts it: a task and own pairs until they are learned."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.own_data import DATA_SETS, write_tsv
from tests.paths import ROOT

SWAP, WANTED_PERCENT, MOST_SECONDS = "adjective-swap", 95.0, 120.0


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


@benchmark("swap")
def measure_swap(lab: Lab) -> Iterator[Row]:
    """The whole command, including process start and final test, beside its own estimate."""
    about = ("--task", SWAP)
    plan = json.loads(run(*about, "--name", "swap", "--checkpoints", str(lab.folder), "--dry-run", "--json").stdout)
    done = train(lab.folder, "swap", *about)
    exact, n = done.results["test"]["exact_match"], done.results["test"]["sentences"]
    yield Row(
        f"{SWAP} from nothing to a tested model, default settings",
        done.seconds,
        "s",
        plan["seconds"],
        "its own estimate beforehand",
        target=f"≥ 99 % exact match in under {MOST_SECONDS:.0f} s on 2 cores",
        met=done.seconds < MOST_SECONDS and exact >= 0.99,
        detail=f"{100 * exact:.1f} % of {n} held-out sentences exactly right, "
        f"{done.results['trained_steps']:,} updates",
    )


@benchmark("own-data")
def measure_own_data(lab: Lab) -> Iterator[Row]:
    """Four small data sets, each by the command that the Train page starts."""
    for name in list(DATA_SETS)[: lab.times(len(DATA_SETS))]:
        pairs = DATA_SETS[name]()
        data = write_tsv(pairs, lab.folder / "pairs.tsv")
        done = train(lab.folder, name.replace(" ", "-"), "--task", "files", "--data", str(data), "--now")
        scores = done.results["test"]
        percent = 100 * scores["exact_match"]
        reason = next(line for line in done.said.splitlines() if "--set tokenizer" in line)
        bleu = f"BLEU {scores['bleu']:.1f}, " if "bleu" in scores else ""
        yield Row(
            f"{len(pairs)} pairs of {name}: held-out answers exactly right",
            percent,
            "%",
            target=f"≥ {WANTED_PERCENT:.0f} % from defaults within two minutes on two cores",
            met=percent >= WANTED_PERCENT and done.seconds <= MOST_SECONDS,
            detail=(
                f"{done.seconds:.0f} s from the command to its end, of which the processor worked "
                f"{done.processor:.0f} s, {done.results['trained_steps']} updates, {bleu}{scores['sentences']} held "
                f"out; {reason.split(':')[0].lower()}"
            ),
        )
