"""The session's place and progress in the lessons, synchronised with the address bar and the browser's storage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.browser import progress_keeper
from explorer.lessons.lesson import Lesson
from explorer.lessons.progress import (
    DONE,
    MAX_KEPT,
    Answer,
    LessonPosition,
    Outcome,
    Progress,
    StepRecord,
    read_position,
    read_progress,
)
from explorer.screens.lessons.running_models import library, start_of
from explorer.web import address, runtime, session

_POSITION, _ANSWERS, _PROBLEMS = (f"_lesson_{name}" for name in ("position", "answers", "problems"))
# Progress: as the browser last reported it, as a link brought it, and both, once a link has added to the browser's.
_SEEN, _LINKED, _BROUGHT = (f"_lesson_{name}" for name in ("seen", "linked", "brought"))


def position() -> LessonPosition:
    """This session's place in the lessons, with the progress."""
    current: LessonPosition = st.session_state.get(_POSITION, LessonPosition())
    return current


def _change(**parts: Any) -> None:
    st.session_state[_POSITION] = replace(position(), **parts)


def open_lesson() -> Lesson | None:
    """The lesson that is open, or None."""
    return library().find(position().lesson)


def adopt(page: str) -> None:
    """Apply the lesson, step and progress that the address requests; called on every page before widgets are drawn.

    A link to a step of a lesson that names no sentence opens the step's own selection.
    """
    asked = address.LESSON.asked()
    if asked:
        new, problems = read_position(asked, library(), position())
        st.session_state[_LINKED] = read_progress(asked.get(DONE, ""))[0]
        st.session_state[_POSITION], st.session_state[_PROBLEMS] = new, problems
        lesson = library().find(new.lesson)
        if lesson is not None and page == "lessons" and session.TEXT not in address.present():
            _open_start(lesson, new.step)
    _adopt_stored()
    address.LESSON.write(position().query(lessons_page=page == "lessons"))


def _adopt_stored() -> None:
    """Adopt the progress that the browser stored in earlier visits or other tabs, as soon as it reports it.

    The browser reports only what is new to this session; an empty report says that another tab cleared the progress.
    """
    text = progress_keeper.last_report().text
    if text is None or text == st.session_state.get(_SEEN, ""):
        return
    st.session_state[_SEEN] = text
    stored, own = read_progress(text, MAX_KEPT)[0], position().progress
    _change(progress=own.united(stored) if text else Progress())
    linked: Progress = st.session_state.pop(_LINKED, Progress())
    if stored.codes and stored.united(linked) != stored:
        st.session_state[_BROUGHT] = (linked, stored)


def keep() -> None:
    """Store the progress in the browser; called at the end of a page, after everything that may change it."""
    progress_keeper.keep_progress(position().progress.text, st.session_state.get(_SEEN, ""))


def link_added() -> bool:
    """Whether the link that was opened added progress to what this browser had stored."""
    return _BROUGHT in st.session_state


def leave_out_link() -> None:
    """Remove the progress that the link added."""
    linked, stored = st.session_state.pop(_BROUGHT)
    _change(progress=position().progress.without(linked, stored))


def clear() -> None:
    """Forget all progress, in the session and in the browser."""
    _change(progress=Progress())
    for name in (_ANSWERS, _BROUGHT, _LINKED):
        st.session_state.pop(name, None)


def link() -> dict[str, str]:
    """The lesson's URL parameters, for a link to another page."""
    return address.LESSON.written()


def problems() -> tuple[str, ...]:
    """Sentences about what could not be used in the last link; each is returned once."""
    messages: tuple[str, ...] = st.session_state.pop(_PROBLEMS, ())
    return messages


def go(name: str, step: int = 1) -> None:
    """Go to a step of a lesson and open its selection; only before widgets are drawn, as in a callback."""
    lesson = library().find(name)
    if lesson is None:
        leave()
        return
    number = min(max(step, 1), len(lesson.steps))
    _change(lesson=name, step=number)
    _open_start(lesson, number)


def _open_start(lesson: Lesson, step: int) -> None:
    link = lesson.step(step).link
    query = dict(link.query) if link is not None else {}
    address.BLOCK.write({name: query.get(name, "") for name in address.BLOCK.names})
    if link is not None and link.models and not lesson.step(step).missing(runtime.models()):
        session.open_selection(start_of(lesson.step(step)))
        if "decode_method" in st.session_state:  # answers are those of greedy search
            st.session_state["decode_method"] = "greedy"


def leave() -> None:
    """Close the lesson; progress is kept."""
    if address.page() == "lessons":  # the list shows no machine
        address.BLOCK.write({})
    st.session_state[_POSITION] = LessonPosition(progress=position().progress)


def present(on: bool) -> None:
    """Start or end presentation mode."""
    _change(presenting=on)


def set_outcome(lesson: str, step: int, outcome: Outcome) -> None:
    """Record the outcome of a question; its first outcome is final."""
    _change(progress=position().progress.with_outcome(lesson, step, outcome))


def set_done(lesson: str, step: int) -> None:
    """Record that a step's exercise was done."""
    _change(progress=position().progress.with_exercise_done(lesson, step))


def record(lesson: str, step: int) -> StepRecord:
    """The state of a step: outcome, exercise and the last answer in this session."""
    progress = position().progress
    return StepRecord(progress.outcome(lesson, step), progress.is_done(lesson, step), _answers().get((lesson, step)))


def has_answered(lesson: str, step: int) -> bool:
    """Whether the reader has given any answer to a step's question, right or wrong."""
    state = record(lesson, step)
    return state.outcome != Outcome.UNANSWERED or state.answer is not None


def add_answer(lesson: str, step: int, text: str) -> Answer:
    """Remember an answer to a step's question."""
    before = _answers().get((lesson, step))
    _answers()[lesson, step] = Answer(text, (before.tries if before else 0) + 1)
    return _answers()[lesson, step]


def _answers() -> dict[tuple[str, int], Answer]:
    answers: dict[tuple[str, int], Answer] = st.session_state.setdefault(_ANSWERS, {})
    return answers
