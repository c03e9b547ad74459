"""An invisible component that stores the reader's progress in the lessons in the browser, between visits."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from explorer.browser.registration import component, nothing

KEY = "lesson_progress"

_component = component("progress", "progress_keeper")


@dataclass(frozen=True)
class Report:
    """The browser's report: the stored text (None before the first report), and whether storage is blocked."""

    text: str | None = None
    blocked: bool = False


def last_report() -> Report:
    """The browser's last report; read it before the component is drawn, in the run that the report causes."""
    state = st.session_state.get(KEY) or {}
    text = state.get("kept")
    return Report(text if isinstance(text, str) else None, state.get("blocked") is True)


def keep_progress(text: str, seen: str) -> None:
    """Store `text` in the browser. If the stored text is not the one last `seen`, the browser reports it instead."""
    _component(
        key=KEY,
        data={"text": text, "seen": seen},
        on_kept_change=nothing,
        on_blocked_change=nothing,
    )
