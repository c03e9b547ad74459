"""Train: a model from nothing, watched while it learns."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

import streamlit as st  # noqa: E402 - nothing runs before the shell has had its say

from explorer import runtime  # noqa: E402
from explorer.run_choice import NEW, run_box, settle_choice  # noqa: E402
from explorer.runs import Runs  # noqa: E402
from explorer.train_form import draw_form  # noqa: E402
from explorer.train_watch import draw_run  # noqa: E402


def draw() -> None:
    """The form for a new run, or the run that is being watched."""
    runs = Runs(runtime.CHECKPOINTS)
    states = {status.name: status for status in runs.statuses()}
    title, box = st.columns([3, 1], vertical_alignment="center")
    with box:
        name = run_box("Run", [NEW, *states], lambda name: name or "A new run")
    with title:
        st.markdown("#### " + ("Train a model from nothing" if name == NEW else "Watch it learn"))
    if name == NEW:
        draw_form(runs)
    else:
        draw_run(runs, name)
    settle_choice()


draw()
