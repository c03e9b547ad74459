"""Train: train a model from scratch and watch it learn."""

from __future__ import annotations

import streamlit as st

from explorer.runs.lifecycle import Runs
from explorer.screens.train.form import draw_form
from explorer.screens.train.watch import draw_run
from explorer.web import runtime
from explorer.web.selected_run import NEW, RUN, draw_missing, run_box

_WATCHING = {True: "Watch it learn", False: "How it learned"}


def draw() -> None:
    """The form for a new run, or the run that is being watched."""
    runs = Runs(runtime.CHECKPOINTS)
    states = {status.name: status for status in runs.statuses()}
    title, box = st.columns([3, 1], vertical_alignment="center")
    with box:
        name = run_box(RUN, "Run", [NEW, *states], lambda name: name or "A new run")
    with title:
        busy = name in states and states[name].busy
        st.markdown("#### " + ("Train a model from scratch" if name == NEW else _WATCHING[busy]))
    draw_missing()
    if name == NEW:
        draw_form(runs)
    else:
        draw_run(runs, name)
