"""The lesson beside every other page; as long as there is none, it costs nothing."""

from __future__ import annotations

import streamlit as st

OPEN = "_lesson_open"  # in the session: whether a lesson was ever opened
PARAMETERS = ("lesson", "done")


def draw(page: str) -> None:
    """Take over what the address says about a lesson, and draw its step in the sidebar of the page called `page`.

    Lessons bring torch along, which a page without them need not wait for.
    """
    asked = any(name in st.query_params for name in PARAMETERS)
    if not (asked or page == "lessons" or st.session_state.get(OPEN)):
        return
    st.session_state[OPEN] = True
    from explorer.screens.lessons import sidebar

    sidebar.draw(page)
