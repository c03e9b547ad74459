"""Runs: every run and model, what can be done with it, curves side by side, and how its heads formed."""

from __future__ import annotations

import streamlit as st

from explorer.locale.text import plain
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.listing import description
from explorer.runs.progress import diagnosis
from explorer.runs.viewer_mode import viewing
from explorer.screens.runs.actions import draw_actions, draw_import, draw_links, draw_outcome
from explorer.screens.runs.comparison import draw_comparison
from explorer.screens.runs.head_history import draw_heads
from explorer.screens.runs.listing import draw_table
from explorer.screens.runs.note import draw_note
from explorer.web import runtime
from explorer.web.run_metrics import metrics_of
from explorer.web.selected_run import ENTRY, draw_missing, run_box
from explorer.web.wrong_answers import draw_wrong_answers


def draw() -> None:
    """The list, then everything about one of its entries."""
    runs = Runs(runtime.CHECKPOINTS)
    entries = runs.entries()
    st.markdown("#### Every run and model on this machine")
    if not entries:
        st.info("There is no run and no model here yet. Train one, or import a zip file.")
        draw_import(runs)
        return
    outcome = st.container()
    draw_table(entries)
    by_name = {entry.name: entry for entry in entries}
    box, links = st.columns([1, 2], vertical_alignment="center")
    with box:
        name = run_box(ENTRY, "Run or model", list(by_name))
    with outcome:
        draw_outcome()
        draw_missing()
    entry = by_name.get(name) or entries[0]
    with links:
        draw_links(entry)
    draw_actions(runs, entry)
    st.caption(plain(description(entry, read_only=viewing())))
    if (entry.status is None or not entry.busy) and (said := diagnosis(metrics_of(runs, entry.name), True).sentence):
        st.caption(plain(said))
    draw_note(entry)
    titles = ["Watch heads form", "Compare curves", "Wrong answers", "Import"]
    heads, curves, wrong, new = st.tabs(titles, on_change="rerun", key="runs_tab")
    if heads.open:
        with heads:
            draw_heads(runs, entry)
    if curves.open:
        with curves:
            draw_comparison(runs, entries, entry.name)
    if wrong.open:
        with wrong:
            _wrong_answers(entry)
    if new.open:
        with new:
            draw_import(runs)


def _wrong_answers(entry: Entry) -> None:
    if entry.problem or not entry.summary.get("model"):
        st.info("There is no model in this folder that could be asked.")
    elif entry.busy:
        st.info("It is being trained: its wrong answers can be listed once that has ended.")
    else:
        draw_wrong_answers(entry.name)
