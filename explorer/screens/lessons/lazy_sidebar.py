"""The lesson in the sidebar of every page, imported only once a lesson has been opened."""

from __future__ import annotations

import streamlit as st

from explorer.web.sentence_page import follow_sentence

OPEN = "_lesson_open"  # in the session: whether a lesson was ever opened
PARAMETERS = ("lesson", "done")


def draw(page: str) -> None:
    """Apply what the address says about a lesson, and draw its step in the sidebar of `page`.

    Lessons import torch, which a page without a lesson does not have to wait for.
    """
    asked = any(name in st.query_params for name in PARAMETERS)
    if not (asked or page == "lessons" or st.session_state.get(OPEN)):
        return
    st.session_state[OPEN] = True
    follow_sentence()  # exercises and questions are about the reader's sentence
    from explorer.screens.lessons import sidebar

    sidebar.draw(page)
