"""The server's cost of watching a long run: the part of the Train page that is redrawn every second."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from time import thread_time

from streamlit.testing.v1 import AppTest

from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, seconds
from tests.explorer.toy_runs import eval_line, save_run, train_line, write_metrics

N_STEPS, N_READS, N_LOOKS = 1500, 20, 40


def _look() -> None:
    """A page that reads a run once; its CPU time in seconds stays in the session."""
    import time
    from pathlib import Path

    import streamlit as st

    from explorer.charts.training_curves import loss_figure, score_figure
    from explorer.runs.lifecycle import Runs
    from explorer.screens.train.watch import _numbers, _samples
    from explorer.web.figures import draw_figure
    from explorer.web.runs import metrics_of

    runs, began = Runs(Path(st.session_state["checkpoints"])), time.thread_time()
    status, metrics = runs.peek("mine"), metrics_of(runs, "mine")
    assert status is not None
    _numbers(metrics, status)
    draw_figure(loss_figure(metrics, status.max_steps))
    draw_figure(score_figure(metrics, status.max_steps))
    _samples(metrics)
    st.session_state["seconds"] = time.thread_time() - began


@benchmark("tick")
def measure(lab: Lab) -> Iterator[Row]:
    """A run of 1,500 log lines and as many evaluations, beside the time of rereading all of its metrics."""
    folder, looks = save_run(lab.folder / "mine", state="running"), []
    lines = ((train_line(step, 1.0), eval_line(step, 1.0, 0.5)) for step in range(20, 20 * N_STEPS, 20))
    path = write_metrics(folder, list(chain.from_iterable(lines)))
    app = AppTest.from_function(_look, default_timeout=120)
    app.session_state["checkpoints"] = str(lab.folder)
    for _ in range(lab.times(N_LOOKS)):
        app.run()
        if app.exception:
            raise AssertionError(app.exception[0].message)
        looks.append(1000 * app.session_state["seconds"])

    def read_anew() -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)

    yield Row.within(
        "one look of a viewer at a live run of 1 500 log lines, processor time of the server",
        median(looks),
        "ms",
        10,
        "a tick per viewer",
        other=1000 * median([seconds(read_anew, thread_time) for _ in range(N_READS)]),
        against="reading all of its metrics anew",
        detail=f"median of {len(looks)} looks: state, figures of loss and score, samples",
    )
