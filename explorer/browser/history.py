"""Back and Forward of the browser: whether the person, and not a request that came late, asks for an older address."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.browser.registration import component

_KEY, _LAST = "history", "_history_last"
# Shows nothing, so it needs no styles of its own.
_component = component("history", "history")


def history() -> None:
    """Listen to the browser's Back and Forward; call this at the end of the page, where it moves nothing."""
    _component(key=_KEY, on_moved_change=_nothing, height="content")


def moved() -> bool:
    """Whether this run follows a move in the browser's history; true in one run for each move."""
    state: Any = st.session_state.get(_KEY)
    last = state.get("moved") if state else None
    news = last is not None and last != st.session_state.get(_LAST)
    if news:
        st.session_state[_LAST] = last
    return news


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
