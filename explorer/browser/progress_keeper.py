"""The reader's progress through the lessons, kept in the browser from one visit to the next."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from explorer.browser.registration import component, nothing

KEY = "lesson_progress"

# Shows nothing, so it needs no styles of its own.
_component = component("progress", "progress_keeper")


@dataclass(frozen=True)
class Kept:
    """What the browser has reported: the text that it keeps (None = no report yet), and whether it keeps nothing."""

    text: str | None = None
    blocked: bool = False


def kept() -> Kept:
    """The browser's last report; read it before the component is drawn, in the run that the report causes."""
    state = st.session_state.get(KEY) or {}
    text = state.get("kept")
    return Kept(text if isinstance(text, str) else None, state.get("blocked") is True)


def keep_progress(text: str, seen: str) -> None:
    """Have the browser keep `text`, unless it holds something else than `seen`, which it reports instead."""
    _component(
        key=KEY,
        data={"text": text, "seen": seen},
        on_kept_change=nothing,
        on_blocked_change=nothing,
    )
