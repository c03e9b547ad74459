"""The Lessons page: the list with what was done so far, or one step of a lesson."""

from __future__ import annotations

import streamlit as st

from explorer.lessons.lesson import Lesson
from explorer.screens.lessons import state as lesson_state
from explorer.screens.lessons.downloads import draw_take
from explorer.screens.lessons.live import Shelf, shelf, start_of
from explorer.screens.lessons.state import UNTOUCHED
from explorer.screens.lessons.step import draw_do, draw_question, draw_text, draw_view
from explorer.text import plain
from explorer.web.figures import freeze_after
from explorer.web.page_parts import heading

# Larger type for the projector, and nothing around the lesson. What the page draws is sized in rem and grows with its
# type; our own figures are sized in pixels, so they are magnified as much (23 of 16).
_PRESENTING = """<style>
html { font-size: 23px !important; }
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] { display: none !important; }
.stMainBlockContainer { padding: 0.75rem 2rem 1rem; }
[data-testid="stBidiComponentIsolated"] { zoom: 1.44; --settings: none; }
</style>"""


def draw() -> None:
    """The whole page."""
    for problem in lesson_state.problems():
        st.warning(plain(problem))
    found = shelf()
    lesson = found.find(lesson_state.place().lesson)
    if lesson is None:
        _list(found)
    else:
        _step(lesson, lesson_state.place().at)
    freeze_after("lessons")


def steps_done(lesson: Lesson) -> int:
    """How many steps of a lesson have nothing left to answer or to do."""
    return sum(is_through(lesson, at) for at in range(1, len(lesson.steps) + 1))


def is_through(lesson: Lesson, at: int) -> bool:
    """Whether a step's question was answered and its thing was done; a step without either never counts as open."""
    step = lesson.step(at)
    answered = step.question is None or lesson_state.outcome(lesson.name, at) != UNTOUCHED
    return answered and (not step.do or lesson_state.is_done(lesson.name, at))


def _list(found: Shelf) -> None:
    heading(
        "What would you like to understand?",
        "Short tours through this app: look at a model, say what you expect, and check it. Answers are computed from "
        "the models that are here.",
    )
    for problem in found.problems:
        st.warning(plain(f"A lesson cannot be read. {problem}"))
    if not found.lessons:
        st.info("There is no lesson here yet; the README says how to write one.")
    for lesson in found.lessons:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            through = steps_done(lesson)
            begun = lesson.name in dict(lesson_state.place().progress)
            st.button(
                "Go on" if begun and through < len(lesson.steps) else "Start",
                key=f"lesson_start_{lesson.name}",
                on_click=lesson_state.go,
                args=(lesson.name, _first_open(lesson) if begun else 1),
            )
            counted = f"{through} of {len(lesson.steps)} steps done" if begun else f"{len(lesson.steps)} steps"
            st.markdown(
                f"**{plain(lesson.title)}** · {plain(f'{counted}, about {lesson.minutes} minutes')}  \n"
                f"{plain(lesson.about)}"
            )
    draw_take(found.lessons)


def _first_open(lesson: Lesson) -> int:
    return next((at for at in range(1, len(lesson.steps) + 1) if not is_through(lesson, at)), 1)


def _step(lesson: Lesson, at: int) -> None:
    step, presenting = lesson.step(at), lesson_state.place().present
    if presenting:
        st.html(_PRESENTING)
    _bar(lesson, at, presenting)
    st.markdown(f"#### {plain(step.title)}")
    start = start_of(step)
    if step.link is not None and step.link.page:
        words, view = st.columns([1, 2] if presenting else [2, 3], gap="medium")
    else:
        words, view = st.container(), st.container()
    with words:
        draw_text(step, start)
        draw_do(lesson, at, start)
        draw_question(lesson, at, start)
    with view:
        draw_view(lesson, at)
    if at == len(lesson.steps) and not presenting:
        st.markdown("**That was the last step.**")
        draw_take((lesson,))


def _bar(lesson: Lesson, at: int, presenting: bool) -> None:
    """Where we are, and the way on: by mouse, with Page Up and Page Down, or with a presenter's remote."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(lesson.title)}** · step {at} of {len(lesson.steps)}")
        draw_steps(lesson, at)
        st.button(
            "End presentation" if presenting else "Present",
            key="lesson_present",
            shortcut="p",
            on_click=lesson_state.present,
            args=(not presenting,),
            help="Large type for the projector; Page Up and Page Down turn the steps.",
        )
        if not presenting:
            st.button("All lessons", key="lesson_leave", on_click=lesson_state.leave)


def draw_steps(lesson: Lesson, at: int) -> None:
    """Buttons for the step before and the step after."""
    st.button(
        "Back",
        key="lesson_previous",
        shortcut="PageUp",
        disabled=at == 1,
        on_click=lesson_state.go,
        args=(lesson.name, at - 1),
    )
    st.button(
        "Next",
        key="lesson_next",
        shortcut="PageDown",
        type="primary",
        disabled=at == len(lesson.steps),
        on_click=lesson_state.go,
        args=(lesson.name, at + 1),
    )
