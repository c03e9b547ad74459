"""The open lesson's step in the sidebar, so that exercise and question stay in view on the other pages."""

from __future__ import annotations

import streamlit as st

from explorer.lessons.lesson import Lesson
from explorer.lessons.progress import AT, Outcome
from explorer.locale.text import plain
from explorer.screens.lessons import lesson_session
from explorer.screens.lessons.running_models import start_of
from explorer.screens.lessons.step import draw_exercise, draw_question

PAGE = "pages/lessons.py"


def draw(page: str) -> None:
    """Apply what the address says, and draw the step on every page except the Lessons page."""
    lesson_session.adopt(page)
    lesson = lesson_session.open_lesson()
    if lesson is None or page == "lessons":
        return
    at = lesson_session.position().step
    step, start = lesson.step(at), start_of(lesson.step(at))
    with st.sidebar, st.container(border=True):
        st.markdown(f"**{plain(step.title)}**")
        st.caption(plain(f"{lesson.title}, step {at} of {len(lesson.steps)}"))
        draw_exercise(lesson, at, start)
        draw_question(lesson, at, start)
        with st.container(horizontal=True, gap="small"):
            _draw_buttons(lesson, at)
        lesson_session.keep()


def _draw_buttons(lesson: Lesson, at: int) -> None:
    if st.button("Back to the lesson", key="lesson_return"):
        st.switch_page(PAGE, query_params=lesson_session.link())
    answered = lesson.step(at).question is None or lesson_session.outcome(lesson.name, at) != Outcome.UNANSWERED
    if at < len(lesson.steps):
        kind = "primary" if answered else "secondary"
        if st.button("Next", key="lesson_onward", type=kind, shortcut="PageDown"):  # type: ignore[arg-type]
            lesson_session.go(lesson.name, at + 1)
            st.switch_page(PAGE, query_params=lesson_session.link() | {AT: str(at + 1)})
    st.button("Close", key="lesson_leave", on_click=lesson_session.leave, help="Close the lesson. Progress is kept.")
