"""A person's own pairs, trained with nothing but defaults: how many held-out answers are right, and after how long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.benchmarks.registry import Row, benchmark
from tests.own_data import DATA_SETS, write_tsv
from tests.paths import ROOT

WANTED_PERCENT, WANTED_SECONDS = 95.0, 120.0


@benchmark("own-data")
def own_data() -> list[Row]:
    """Four small data sets, each by the command that the Train page starts."""
    return [_trained(name) for name in DATA_SETS]


def _trained(name: str) -> Row:
    pairs = DATA_SETS[name]()
    with tempfile.TemporaryDirectory() as folder:
        data = write_tsv(pairs, Path(folder) / "pairs.tsv")
        command = ["-m", "model.train", "--task", "files", "--data", str(data), "--name", "own", "--now"]
        began, before = perf_counter(), children_times()
        done = subprocess.run(
            [sys.executable, *command, "--checkpoints", folder], cwd=ROOT, capture_output=True, text=True, check=True
        )
        seconds, processor = perf_counter() - began, children_times() - before
        config = json.loads((Path(folder) / "own" / "config.json").read_text(encoding="utf-8"))
    scores = config["results"]["test"]
    percent = 100 * scores["exact_match"]
    reason = next(line for line in done.stderr.splitlines() if "--set tokenizer" in line)
    bleu = f"BLEU {scores['bleu']:.1f}, " if "bleu" in scores else ""
    return Row(
        measure=f"{len(pairs)} pairs of {name}: held-out answers exactly right",
        ours=percent,
        unit="%",
        target=f"≥ {WANTED_PERCENT:.0f} % from defaults within two minutes on two cores",
        met=percent >= WANTED_PERCENT and seconds <= WANTED_SECONDS,
        detail=(
            f"{seconds:.0f} s from the command to its end, of which the processor worked {processor:.0f} s, "
            f"{config['results']['trained_steps']} updates, {bleu}{scores['sentences']} held out; "
            f"{reason.split(':')[0].lower()}"
        ),
    )


def children_times() -> float:
    """Processor seconds of the child processes that have ended: what a busy machine does not change."""
    times = os.times()
    return times.children_user + times.children_system
