"""The time until `adjective-swap` gets every held-out sentence right, with the settings that the page proposes."""

import json
from collections.abc import Iterator

from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.trained import run, train

TASK, TARGET_SECONDS = "adjective-swap", 120.0


@benchmark("swap")
def measure(lab: Lab) -> Iterator[Row]:
    """The whole command, including process start and final test, beside its own estimate."""
    about = ("--task", TASK)
    plan = json.loads(run(*about, "--name", "swap", "--checkpoints", str(lab.folder), "--dry-run", "--json").stdout)
    done = train(lab.folder, "swap", *about)
    exact, n = done.results["test"]["exact_match"], done.results["test"]["sentences"]
    yield Row(
        f"{TASK} from nothing to a tested model, default settings",
        done.seconds,
        "s",
        plan["seconds"],
        "its own estimate beforehand",
        target=f"≥ 99 % exact match in under {TARGET_SECONDS:.0f} s on 2 cores",
        met=done.seconds < TARGET_SECONDS and exact >= 0.99,
        detail=f"{100 * exact:.1f} % of {n} held-out sentences exactly right, "
        f"{done.results['trained_steps']:,} updates",
    )
