"""The server's cost of watching a long run: the part of the Train page that is redrawn every second."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import thread_time

from streamlit.testing.v1 import AppTest

from tests.benchmarks.registry import Row, benchmark, median
from tests.explorer.toy_runs import eval_line, save_run, train_line, write_metrics

N_STEPS, N_READS = 1500, 20


def _looks() -> None:
    """A page that reads a run 40 times; the median CPU time in seconds stays in the session."""
    import statistics
    import time
    from pathlib import Path

    import streamlit as st

    from explorer.charts.training_curves import loss_figure, score_figure
    from explorer.runs.lifecycle import Runs
    from explorer.screens.train.watch import _numbers, _samples
    from explorer.web.figures import draw_figure
    from explorer.web.runs import metrics_of

    runs, times = Runs(Path(st.session_state["checkpoints"])), []
    for _ in range(40):
        began = time.thread_time()
        status, metrics = runs.peek("mine"), metrics_of(runs, "mine")
        assert status is not None
        _numbers(metrics, status)
        draw_figure(loss_figure(metrics, status.max_steps))
        draw_figure(score_figure(metrics, status.max_steps))
        _samples(metrics)
        times.append(time.thread_time() - began)
    st.session_state["median"] = statistics.median(times)


@benchmark("tick")
def measure() -> list[Row]:
    """A run of 1,500 log lines and as many evaluations, beside the time of rereading all of its metrics."""
    with tempfile.TemporaryDirectory() as name:
        folder = save_run(Path(name) / "mine", state="running")
        steps = range(20, 20 * N_STEPS, 20)
        lines = [line for step in steps for line in (train_line(step, 1.0), eval_line(step, 1.0, 0.5))]
        path = write_metrics(folder, lines)
        app = AppTest.from_function(_looks, default_timeout=120)
        app.session_state["checkpoints"] = name
        app.run()
        if app.exception:
            raise AssertionError(app.exception[0].message)
        anew = []
        for _ in range(N_READS):
            began = thread_time()
            for line in path.read_text(encoding="utf-8").splitlines():
                json.loads(line)
            anew.append(thread_time() - began)
    ours = 1000 * app.session_state["median"]
    return [
        Row(
            measure="one look of a viewer at a live run of 1 500 log lines, processor time of the server",
            ours=ours,
            unit="ms",
            other=1000 * median(anew),
            against="reading all of its metrics anew",
            target="≤ 10 ms a tick per viewer",
            met=ours <= 10.0,
            detail="median of 40 looks: state, figures of loss and score, samples",
        )
    ]
