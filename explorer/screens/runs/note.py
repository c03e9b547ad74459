"""A note about one run or model: shown where there is one, written in a small form."""

from __future__ import annotations

import streamlit as st

from explorer.locale.text import plain, why
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.process import RunError
from explorer.runs.viewer_mode import viewing
from model.file_formats import NOTE_CHARACTERS
from model.folder import CheckpointError

_REFUSED = "_note_refused"


def draw_note(entry: Entry) -> None:
    """The note, where there is one."""
    if entry.note:
        st.markdown("  \n".join(plain(line) for line in entry.note.splitlines()))
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))


def draw_note_form(runs: Runs, entry: Entry) -> None:
    """The form that changes the note; none where nothing can be changed."""
    if viewing() or entry.bundled or not runs.folder(entry.name).is_dir():
        return
    key = f"runs_note_{entry.name}"
    with st.popover("Note"):
        st.text_area(
            "What to remember about it",
            value=entry.note,
            max_chars=NOTE_CHARACTERS,
            key=key,
            placeholder="Why it was trained, and what came of it",
        )
        st.button("Keep the note", key=f"{key}_go", type="primary", on_click=_keep, args=(runs, entry.name, key))


def _keep(runs: Runs, name: str, key: str) -> None:
    try:
        runs.write_note(name, str(st.session_state.get(key) or ""))
    except (RunError, CheckpointError, OSError) as refused:
        st.session_state[_REFUSED] = why(refused)
