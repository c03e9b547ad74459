"""What greets somebody on the first page: the line on top, the way to the lessons, and the tour."""

from __future__ import annotations

import time

import streamlit as st

from explorer.browser.top_line import top_line
from explorer.browser.tour import tour

_TURN = "_tour_turn"


def draw_top_line() -> None:
    """Draw the line that says what this is, with the ways on."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="top_line_row"):
        top_line(key="top_line", on_tour=_start)
        st.page_link("pages/lessons.py", label="Lessons", icon=":material/school:", width="content")


def draw_tour() -> None:
    """Mount the tour if it was asked for; call this at the end of the page, where it moves nothing."""
    if _TURN in st.session_state:
        tour(st.session_state[_TURN], key="tour")


def _start() -> None:
    # A browser tab outlives sessions: a reconnected one must not repeat the number of an earlier tour.
    st.session_state[_TURN] = time.time_ns() // 1_000_000
