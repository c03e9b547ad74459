"""The Runs page: every run and model, its actions, curves side by side, and how its heads formed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from explorer.locale.glossary import explained
from explorer.locale.messages import message, t
from explorer.locale.text import plain
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.listing import card, description, rows, texts
from explorer.runs.origin import losses_are_alike
from explorer.runs.progress import diagnosis_of
from explorer.screens.runs.actions import (
    draw_actions,
    draw_import,
    draw_note,
    draw_outcome,
    draw_several,
)
from explorer.screens.runs.comparison import draw_comparison
from explorer.screens.runs.head_history import draw_heads
from explorer.web import address, page_parts, runtime
from explorer.web.figures import draw_table, table_height
from explorer.web.runs import (
    ENTRY,
    choose_run,
    draw_curves,
    draw_missing,
    draw_wrong_answers,
    forget_missing,
    metrics_of,
    wanted,
)
from model.analysis.run_diagnosis import Verdict
from model.checkpoint import snapshot_steps

_MOST_ROWS = 10  # further rows are reached by scrolling, so that the view of one run stays near
_CHOSEN, _TABLE = "_runs_chosen", "_runs_table"  # in the session: the marked names, and the number of their table
_SEVERAL = "runs_several"


def draw() -> None:
    """Draw the list, then everything about the entries that are marked in it."""
    runs = Runs(runtime.CHECKPOINTS)
    entries = runs.entries()
    heading = st.container(
        key="runs_heading", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    )
    heading.markdown(f"#### {t('Every run and model on this machine')}", width="content")
    if not entries:
        draw_outcome()
        st.info(t("There is no run and no model here yet. Train one, or import a zip file."))
        draw_import(runs)
        return
    with heading.popover(t("Import a model"), icon=":material/upload:"):  # not above the table's own buttons
        draw_import(runs)
    draw_outcome()
    marked = _choose(runs, entries)
    draw_missing()
    for entry in entries:
        if entry.problem:
            st.caption(plain(t("{name} cannot be opened: {problem}", name=entry.name, problem=entry.problem)))
    if len(marked) > 1:
        draw_several(runs, marked)
        draw_comparison(runs, marked)
    for entry in marked if len(marked) == 1 else ():
        _draw_one(runs, entry)


def _draw_one(runs: Runs, entry: Entry) -> None:
    """Draw one run or model: how it went, its actions, and its tabs."""
    st.markdown(f"#### {plain(entry.name)}")
    if not entry.busy:
        st.markdown(explained(diagnosis_of(metrics_of(runs, entry.name), False, entry.summary).sentence))
    watched = bool(entry.problem) or len(snapshot_steps(runs.folder(entry.name))) > 1
    film = "" if watched else t("It has no snapshots, in which its heads could be watched as they form.")
    st.caption(plain(" ".join(filter(None, (description(entry), film)))))
    draw_note(entry)
    draw_actions(runs, entry)
    curves = partial(draw_curves, metrics_of(runs, entry.name), losses_are_alike(runs.folder(entry.name)), key="runs")
    film_tab = {message("Watch heads form"): partial(draw_heads, runs, entry)}
    tabs = film_tab if watched else {message("Curves"): curves}
    page_parts.draw_tabs("runs", tabs | {message("Wrong answers"): partial(draw_wrong_answers, entry)})


def _choose(runs: Runs, entries: Sequence[Entry]) -> list[Entry]:
    """Draw the list as a table or, on a phone, as cards, and return the entries that are marked in it."""
    by_name = {entry.name: entry for entry in entries}
    names = list(by_name)
    asked = wanted(ENTRY, names, st.session_state.get(_CHOSEN, names[:1]))  # at first, the newest is open
    chosen = [name for name in names if name in asked]
    if chosen != st.session_state.get(_CHOSEN):
        st.session_state[_CHOSEN] = chosen
        st.session_state[_TABLE] = st.session_state.get(_TABLE, 0) + 1  # marks cannot be set but in another table
        if len(chosen) > 1:  # by a link, perhaps
            st.session_state[_SEVERAL] = True
    courses = {entry.name: diagnosis_of(metrics_of(runs, entry.name), entry.busy, entry.summary) for entry in entries}
    verdicts = {name: course.verdict for name, course in courses.items() if course.sentence}
    with st.container(key="runs_list"):
        _draw_table(entries, verdicts, chosen)
    with st.container(key="runs_cards"):
        st.caption(t("{n} run or model", "{n:,} runs and models", n=len(names)))  # the list shows a few at a time
        st.toggle(t("Choose several, to compare or delete them"), key=_SEVERAL)
        st.session_state[ENTRY] = chosen
        st.pills(
            t("Run or model"),
            names,
            selection_mode="multi",
            format_func=lambda name: f"**{plain(name)}** {plain(card(by_name[name], verdicts.get(name)))}",
            key=ENTRY,
            label_visibility="collapsed",
            on_change=_open_card,
            args=(chosen,),
        )
    address.choice(ENTRY).write({ENTRY: address.SEVERAL.join(chosen)})
    return [by_name[name] for name in chosen]


def _opened(n: int) -> str:
    """What is open below the list, by the number of ticked runs, and what ticking does."""
    if not n:
        return t("Tick a run to open it, or several to compare or delete them.")
    if n == 1:
        return t("The ticked run is open below. Tick several to compare or delete them.")
    return t("The ticked runs are compared below.")


def _draw_table(entries: Sequence[Entry], verdicts: Mapping[str, Verdict], chosen: Sequence[str]) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    names = [entry.name for entry in entries]
    # Marks are kept by row: another list is another table.
    key = f"runs_table_{hash(tuple(names))}_{st.session_state[_TABLE]}"
    st.caption(_opened(len(chosen)))
    table = rows(entries, verdicts)
    elsewhere = (t("right, 95 %"), t("BLEU, 95 %"), t("parameters"), t("updates"))  # beside a score, or of one run
    draw_table(
        [{name: value for name, value in row.items() if name not in elsewhere} for row in table],
        t("Runs and models"),
        file="runs-and-models",
        in_file=table,
        texts=texts(table),
        missing="–",
        height=table_height(len(entries), _MOST_ROWS),
        key=key,
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [names.index(name) for name in chosen], "columns": [], "cells": []}},
        on_select=partial(_open_marked, key, names),
        column_config={
            t("name"): text(
                width=198, pinned=any(entry.note for entry in entries)
            ),  # which make it wider than a laptop
            t("right (%)"): number(
                width=132,
                help=t("Share of sentences that are exactly right, with its 95 % interval (Wilson's score interval)."),
            ),
            "BLEU": number(
                width=131,
                help=t(
                    "BLEU on the same; – where answers are not sentences. Its 95 % interval is roughly "
                    "± 45 ÷ √sentences."
                ),
            ),
            t("scored on"): text(
                help=t(
                    "Sentences that were scored: of the test set or, where there is none, held out for validation. "
                    "“training”: the test pairs are those of training, so that nothing was tested."
                )
            ),
            t("verdict"): text(
                help=t(
                    "From the held-out score and the curves. learned: right almost everywhere; levelled off: little "
                    "has got better for a third of the run, or the score for half of it; learned by heart: right on "
                    "training pairs, much worse on others or not tested on others; fails in use: right where the "
                    "answer so far is given, wrong where the model writes it."
                ),
            ),
            t("min"): number(
                help=t("Time of the whole training, where it was trained; – where it continues that of another model."),
            ),
            t("when"): st.column_config.DatetimeColumn(width=66),
            t("note"): text(width="medium"),
        },
    )


def _open_marked(key: str, names: Sequence[str]) -> None:
    """Open the runs whose rows are marked."""
    forget_missing()
    st.session_state[_CHOSEN] = [names[row] for row in st.session_state[key]["selection"]["rows"]]


def _open_card(before: Sequence[str]) -> None:
    """Open the run whose card was tapped, or close it if it is open, beside the others if several are chosen."""
    forget_missing()
    chosen = st.session_state[ENTRY]
    if not st.session_state[_SEVERAL]:
        chosen = [name for name in {*before} ^ {*chosen} if [name] != before]
    choose_run(address.SEVERAL.join(chosen), ENTRY)
