"""The end of a lesson: what there was to learn, what is left open, and the next lesson."""

from __future__ import annotations

import streamlit as st

from explorer.lessons.handout import OUTCOMES
from explorer.lessons.lesson import Lesson
from explorer.locale.text import listed, plain, plural
from explorer.screens.lessons import lesson_session
from explorer.screens.lessons.running_models import library


def draw_ending(lesson: Lesson) -> None:
    """The recap, the score, the steps that are still open, and a button to the next lesson."""
    with st.container(border=True, key="lesson_ending"):
        st.markdown(f"**That was “{plain(lesson.title)}”.**")
        last = len(lesson.steps)
        if lesson.step(last).question is None or lesson_session.has_answered(lesson.name, last):
            st.markdown("\n".join(f"- {sentence}" for sentence in lesson.recap))
        else:
            st.caption("What there was to learn is summed up here once you have answered the last question.")
        st.markdown(_score(lesson))
        _draw_open_steps(lesson)
        following = library().after(lesson.name)
        if following is None:
            st.markdown("This was the last lesson. Every page of the app is now yours to explore.")
            return
        st.button(
            plain(f"Next lesson: {following.title}"),
            key="lesson_following",
            type="primary",
            on_click=lesson_session.go,
            args=(following.name,),
        )
        st.caption(plain(following.about))


def _score(lesson: Lesson) -> str:
    outcomes = [
        lesson_session.outcome(lesson.name, at) for at, step in enumerate(lesson.steps, start=1) if step.question
    ]
    counts = [f"{outcomes.count(known)} {name}" for known, name in OUTCOMES.items() if known in outcomes]
    return f"{plural(len(outcomes), 'question')}: {listed(counts) if counts else 'none answered yet'}."


def _draw_open_steps(lesson: Lesson) -> None:
    """Buttons to the steps in which something is left to answer or to do."""
    progress = lesson_session.position().progress
    left = [at for at in range(1, len(lesson.steps)) if not progress.is_complete(lesson, at)]
    if not left:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Still open:", width="content")
        for at in left:
            st.button(
                f"Step {at}",
                key=f"lesson_open_step_{at}",
                help=plain(lesson.step(at).title),
                on_click=lesson_session.go,
                args=(lesson.name, at),
            )
