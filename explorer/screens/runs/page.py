"""The Runs page: every run and model, its actions, curves side by side, and how its heads formed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from explorer.decoding.model_summary import by_heart
from explorer.locale.messages import message, t
from explorer.locale.text import plain
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.listing import description, rows, summary
from explorer.runs.progress import diagnosis
from explorer.runs.viewer_mode import viewing
from explorer.screens.runs.actions import (
    draw_actions,
    draw_import,
    draw_links,
    draw_note,
    draw_outcome,
    draw_several,
)
from explorer.screens.runs.comparison import draw_comparison
from explorer.screens.runs.head_history import draw_heads
from explorer.web import page_parts, runtime
from explorer.web.figures import draw_table
from explorer.web.runs import ENTRY, choose_run, draw_missing, draw_wrong_answers, metrics_of, run_box
from model.checkpoint import snapshot_steps

_MOST_ROWS = 10  # further rows are reached by scrolling, so that the view of one run stays on the first screen
_ROW_PIXELS = 35


def draw() -> None:
    """Draw the list, then everything about one of its entries."""
    runs = Runs(runtime.CHECKPOINTS)
    entries = runs.entries()
    heading = st.container(horizontal=True, vertical_alignment="center")
    heading.markdown(f"#### {t('Every run and model on this machine')}", width="stretch")
    if not entries:
        draw_outcome()
        st.info(t("There is no run and no model here yet. Train one, or import a zip file."))
        draw_import(runs)
        return
    with heading.popover(t("Import a model"), icon=":material/upload:"):
        draw_import(runs)
    outcome = st.container()
    several = _draw_list(runs, entries)
    if len(several) > 1:
        with outcome:
            draw_outcome()
        draw_several(runs, several)
        draw_comparison(runs, entries, [entry.name for entry in several])
        return
    by_name = {entry.name: entry for entry in entries}
    box, links = st.columns([1, 1], vertical_alignment="center")
    with box:
        name = run_box(ENTRY, t("Run or model"), list(by_name))
    with outcome:
        draw_outcome()
        draw_missing()
    entry = by_name.get(name) or entries[0]
    with links:
        draw_links(entry)
    draw_actions(runs, entry)
    known = by_heart(entry.summary.get("task"))
    course = "" if entry.busy else diagnosis(metrics_of(runs, entry.name), True, known).sentence
    watched = bool(entry.problem) or len(snapshot_steps(runs.folder(entry.name))) > 1
    film = "" if watched else t("It has no snapshots, in which its heads could be watched as they form.")
    st.caption(plain(" ".join(filter(None, (description(entry, read_only=viewing()), course, film)))))
    draw_note(entry)
    film_tab = {message("Watch heads form"): partial(draw_heads, runs, entry)}
    tabs = (film_tab if watched else {}) | {
        message("Compare curves"): partial(draw_comparison, runs, entries, [entry.name]),
        message("Wrong answers"): partial(_wrong_answers, entry),
    }
    page_parts.draw_tabs("runs", tabs)


def _draw_list(runs: Runs, entries: Sequence[Entry]) -> list[Entry]:
    """Draw the table of runs and models, its summary, and a sentence for each folder that cannot be opened.

    Returns the entries whose rows are marked; a single marked one is opened below.
    """
    courses = {entry.name: diagnosis(metrics_of(runs, entry.name), not entry.busy) for entry in entries}
    verdicts = {name: course.verdict for name, course in courses.items() if course.sentence}
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    # Marks are kept by row: another list is another table.
    key = f"runs_table_{hash(tuple(by_row := [entry.name for entry in entries]))}"
    marked = draw_table(
        rows(entries, verdicts),
        t("Runs and models"),
        file="runs-and-models",
        height=_ROW_PIXELS * (min(len(entries), _MOST_ROWS) + 1) + 3,
        key=key,
        selection_mode="multi-row",
        on_select=partial(_open_marked, key, by_row),
        column_config={
            t("name"): text(width=195),  # with both scores beside it on a phone
            # What is written under the table says these; the menu of a column shows them.
            **dict.fromkeys((t("data"), t("updates"))),
            t("right (%)"): number(
                width=72, format="%.1f", help=t("Share of test sentences that are exactly right, all held out.")
            ),
            "BLEU": number(width=60, format="%.1f", help=t("BLEU on test, where answers are sentences.")),
            t("interval (95 %)"): text(
                width=195,
                help=t(
                    "Of BLEU or, without it, of the share that is right, and the number of sentences: Wilson's score "
                    "interval or, of BLEU, roughly ± 45 ÷ √sentences. Pairs learned by heart have none."
                ),
            ),
            t("verdict"): text(
                width=150,
                help=t(
                    "From the held-out score and the curves. learned: right almost everywhere; levelled off: nothing "
                    "has got better for a third of the run, or the score for half of it; learned by heart: right on "
                    "training pairs, much worse on others or not tested on others; fails in use: right where the "
                    "answer so far is given, wrong where the model writes it."
                ),
            ),
            t("when"): st.column_config.DatetimeColumn(format="D MMM HH:mm"),
            t("note"): text(width="medium"),
            t("parameters"): number(width=95, format="compact"),
        },
    )
    hint = t("Tick one to open it below, several to compare or delete them.")
    st.caption(f"{plain(summary(entries))} {hint}")
    for entry in entries:
        if entry.problem:
            st.caption(plain(t("{name} cannot be opened: {problem}", name=entry.name, problem=entry.problem)))
    return [entries[row] for row in marked["selection"]["rows"] if row < len(entries)]


def _open_marked(key: str, names: Sequence[str]) -> None:
    """Open the run whose row alone is marked."""
    rows = st.session_state[key]["selection"]["rows"]
    if len(rows) == 1:
        choose_run(names[rows[0]], ENTRY)


def _wrong_answers(entry: Entry) -> None:
    if entry.problem or not entry.summary.get("model"):
        st.info(t("There is no model in this folder yet."))
    elif entry.busy:
        st.info(t("The model is being trained; its wrong answers can be listed afterwards."))
    elif (entry.summary["results"].get("valid") or {}).get("exact_match") == 1:
        st.info(t("There is none: at the end of training, all validation answers were exactly right."))
    else:
        draw_wrong_answers(entry.name)
