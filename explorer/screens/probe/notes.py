"""A user's notes on heads, kept for the session and written into the report."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.decoding.names import index_name
from explorer.locale.messages import t
from explorer.probing.report import Section
from model.points import Head

MOST_LETTERS = 2000  # of one note
_NOTES = "probe_notes"


def notes_of(model: str) -> dict[Head, str]:
    """The notes on the heads of a model, in the order in which they were begun."""
    every: dict[str, dict[Head, str]] = st.session_state.setdefault(_NOTES, {})
    return every.setdefault(model, {})


def draw_note(model: str, head: Head) -> None:
    """Draw the field for the note on one head."""
    key = f"probe_note_{model}_{'_'.join(map(str, head))}"
    st.text_area(
        t("Notes on this head"),
        value=notes_of(model).get(head, ""),
        key=key,
        height=90,
        max_chars=MOST_LETTERS,
        placeholder=t("What did you see? Notes last until this browser tab is closed; the report contains them."),
        on_change=_write,
        args=(model, head, key),
    )


def _write(model: str, head: Head, key: str) -> None:
    notes, text = notes_of(model), str(st.session_state[key]).strip()
    if text:
        notes[head] = text
    else:
        notes.pop(head, None)


def notes_section(model: str) -> Sequence[Section]:
    """The notes as a section of the report; none without notes."""
    rows = [
        {"kind": kind, "head": index_name(layer, number), "note": text}
        for (kind, layer, number), text in notes_of(model).items()
    ]
    return [Section(t("Notes"), rows, t("Written by the person who made this report."), "notes")] if rows else []
