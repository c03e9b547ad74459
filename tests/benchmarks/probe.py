"""How long the Probe page's measurements of the default model take.

All times are processor time on one thread: an upper bound of the time on an idle machine, and not longer on a busy one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from time import process_time
from typing import TypeVar

from explorer.probing.importance import measure_importance
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice, measure, measure_again
from explorer.probing.stored import FILE
from model.checkpoint import load_model
from tests.benchmarks.registry import Row, benchmark, median, torch_threads
from tests.paths import CHECKPOINTS

MODEL = "multi30k-en-de"
REPEATS = 3
MOST_MEASURED, MOST_IMPORTANCE, MOST_STORED = 8.0, 15.0, 1.0  # seconds

Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of the work and the median of its times in seconds."""
    times = []
    for _ in range(REPEATS):
        began = process_time()
        result = work()
        times.append(process_time() - began)
    return result, median(times)


@benchmark("probe")
def measured_heads() -> list[Row]:
    """All heads measured on the default sample, all heads switched off one by one, and stored results opened."""
    with torch_threads(1), tempfile.TemporaryDirectory() as folder:
        loaded = load_model(CHECKPOINTS / MODEL)
        choice = default_choice(loaded.data_config)
        found, measuring = timed(lambda: measure_again(choice, loaded, unheard))
        importance, ablating = timed(lambda: measure_importance(loaded, found.sample, unheard))
        copy = copytree(CHECKPOINTS / MODEL, Path(folder) / MODEL)
        stored, opening = timed(lambda: measure(choice, load_model(copy), unheard))
        if stored.importance is None or stored.observed:
            raise AssertionError(f"{FILE} of {MODEL} is stale: python -m explorer.probing.ship {MODEL}")
    n_heads = sum(item.n_layers * item.n_heads for item in found.probe.kinds.values())
    rows = (
        (
            f"{found.probe.sentences} sentences of {MODEL} measured",
            measuring,
            MOST_MEASURED,
            f"{n_heads} heads and {found.probe.seeds} untrained models of the same shape, with intervals",
        ),
        (
            f"{n_heads} heads of {MODEL} switched off one by one",
            ablating,
            MOST_IMPORTANCE,
            f"over {importance.sentences} sentences, with gradient scores and intervals",
        ),
        ("the model and its stored results opened", opening, MOST_STORED, "what the Probe page waits for at its first"),
    )
    return [
        Row(
            measure=f"{what}, processor time on one thread",
            ours=seconds,
            unit="s",
            target=f"at most {most:g} s on two cores",
            met=seconds <= most,
            detail=detail,
        )
        for what, seconds, most, detail in rows
    ]
