"""The open lesson's step in the sidebar, so that exercise and question stay in view on other pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import streamlit as st

from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import address
from explorer.web.sentence_page import follow_sentence

if TYPE_CHECKING:
    from explorer.lessons.lesson import Lesson

OPEN = "_lesson_open"  # in the session: whether a lesson has been open in it
PAGE = "pages/lessons.py"
LOOK_SECONDS = 3


def draw(page: str) -> None:
    """Apply the address's lesson parameters, and draw the lesson's step in the sidebar of every page but Lessons.

    Lessons import torch, so a page without a lesson does not import them.
    """
    asked = address.LESSON.present().keys() & {"lesson", "done"}
    if not (asked or page == "lessons" or st.session_state.get(OPEN)):
        return
    st.session_state[OPEN] = True
    follow_sentence()  # exercises and questions depend on the reader's sentence
    from explorer.screens.lessons import lesson_session

    lesson_session.adopt(page)
    lesson = lesson_session.open_lesson()
    if lesson is not None and page != "lessons":
        _draw_step(lesson)


def lists(page: str) -> bool:
    """Whether the page is the list of all lessons, which has no use for the model and the sentence."""
    if page != "lessons":
        return False
    from explorer.screens.lessons import lesson_session

    return lesson_session.open_lesson() is None


def _draw_step(lesson: Lesson) -> None:
    from explorer.screens.lessons import lesson_session
    from explorer.screens.lessons.running_models import start_of
    from explorer.screens.lessons.step import draw_exercise, draw_question

    at = lesson_session.position().step
    step, start = lesson.step(at), start_of(lesson.step(at))
    with st.sidebar, st.container(border=True):
        st.markdown(f"**{plain(step.title)}**")
        st.caption(plain(t("{lesson}, page {at} of {n}", lesson=lesson.title, at=at, n=len(lesson.steps))))
        # The page's own fragments do not run the sidebar, so an open exercise looks for itself whether it is done.
        waiting = step.done is not None and not lesson_session.record(lesson.name, at).done
        st.fragment(draw_exercise, run_every=LOOK_SECONDS if waiting else None)(lesson, at, start)
        draw_question(lesson, at, start)
        st.html(f"<style>{key_names()}</style>")
        with st.container(horizontal=True, gap="small"):
            _draw_buttons(lesson, at)
        lesson_session.keep()


def key_names() -> str:
    """CSS that names the keys of the buttons that turn the pages: Streamlit writes PageUp and PageDown on them."""
    names = {"lesson_previous": t("Page Up"), "lesson_next": t("Page Down"), "lesson_onward": t("Page Down")}
    return "".join(
        f".st-key-{button} kbd {{ font-size: 0; }}"
        f".st-key-{button} kbd::after {{ content: {json.dumps(name, ensure_ascii=False)}; font-size: 0.7rem; }}"
        for button, name in names.items()
    )


def _draw_buttons(lesson: Lesson, at: int) -> None:
    from explorer.lessons.progress import AT
    from explorer.screens.lessons import lesson_session

    if st.button(t("Back to the lesson"), key="lesson_return"):
        st.switch_page(PAGE, query_params=lesson_session.link())
    answered = lesson.step(at).question is None or lesson_session.record(lesson.name, at).outcome
    if at < len(lesson.steps):
        kind: Literal["primary", "secondary"] = "primary" if answered else "secondary"
        if st.button(t("Next"), key="lesson_onward", type=kind, shortcut="PageDown"):
            lesson_session.go(lesson.name, at + 1)
            st.switch_page(PAGE, query_params=lesson_session.link() | {AT: str(at + 1)})
    hint = t("Close the lesson. Progress is kept.")
    st.button(t("Close"), key="lesson_leave", on_click=lesson_session.leave, help=hint)
