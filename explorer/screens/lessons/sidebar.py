"""A lesson's step in the sidebar: what to do and the question stay in view on the other pages."""

from __future__ import annotations

import streamlit as st

from explorer.lessons.lesson import Lesson
from explorer.screens.lessons import state as lesson_state
from explorer.screens.lessons.live import start_of
from explorer.screens.lessons.state import UNTOUCHED
from explorer.screens.lessons.step import draw_do, draw_question
from explorer.text import plain

PAGE = "pages/lessons.py"


def draw(page: str) -> None:
    """Take over what the address says; on other pages than the lessons' own, draw the step."""
    lesson_state.adopt(page)
    lesson = lesson_state.open_lesson()
    if lesson is None or page == "lessons":
        return
    at = lesson_state.place().at
    step, start = lesson.step(at), start_of(lesson.step(at))
    with st.sidebar, st.container(border=True):
        st.markdown(f"**{plain(step.title)}**")
        st.caption(plain(f"{lesson.title}, step {at} of {len(lesson.steps)}"))
        draw_do(lesson, at, start)
        draw_question(lesson, at, start)
        with st.container(horizontal=True, gap="small"):
            _ways(lesson, at)


def _ways(lesson: Lesson, at: int) -> None:
    if st.button("Back to the lesson", key="lesson_return"):
        st.switch_page(PAGE, query_params=lesson_state.link())
    answered = lesson.step(at).question is None or lesson_state.outcome(lesson.name, at) != UNTOUCHED
    if at < len(lesson.steps):
        kind = "primary" if answered else "secondary"
        if st.button("Next", key="lesson_onward", type=kind, shortcut="PageDown"):  # type: ignore[arg-type]
            lesson_state.go(lesson.name, at + 1)
            st.switch_page(PAGE, query_params=lesson_state.link() | {lesson_state.AT: str(at + 1)})
    st.button("Close", key="lesson_leave", on_click=lesson_state.leave, help="End the lesson; what you did is kept.")
