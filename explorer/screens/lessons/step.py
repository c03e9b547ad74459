"""A step of a lesson on the screen: its text, its place in the app, the thing to do, and the question."""

from __future__ import annotations

import dataclasses
from typing import Literal

import streamlit as st

from explorer.lessons.answers import MAX_ANSWER, Solution, is_right, solve
from explorer.lessons.exercises import Here, done, is_deed
from explorer.lessons.expressions import TermError
from explorer.lessons.lesson import IN_PLACE, Lesson, Link, Question, Step
from explorer.screens.lessons import state as lesson_state
from explorer.screens.lessons.live import broken_claims, evaluate, fill, start_of
from explorer.screens.lessons.state import AT_ONCE, LATER, SHOWN, UNTOUCHED
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.web import head_edits as surgery_state
from explorer.web import runtime, session
from explorer.web.attention_views import draw_heads, draw_stepper
from explorer.web.open_translation import opened
from model.folder import SHIPPED

_OFF = "This step does not fit the models that are here any more: "


def draw_text(step: Step, start: Selection) -> None:
    """What the step says, with the numbers of now."""
    if step.missing(runtime.models()):
        names = " or ".join(step.needs)
        st.info(plain(f"This step looks at a model that is not here: {names}. Go on, and come back when it is."))
    elif problems := broken_claims(step, start):
        st.warning(plain(_OFF + " ".join(problems)))
    try:
        st.markdown(fill(step.text, start))
    except TermError as without:
        st.warning(plain(f"{_OFF}{without}."))


def draw_view(lesson: Lesson, at: int) -> None:
    """The step's place: its view right here where that can be, and a button that opens its page."""
    step = lesson.step(at)
    link = step.link
    if link is None or not link.page or step.missing(runtime.models()):
        return
    if step.after and lesson_state.outcome(lesson.name, at) == UNTOUCHED:
        st.caption("The picture is shown once you have answered.")
        return
    if link.page in IN_PLACE:
        _moved(step, lesson, at)
        _draw_in_place(f"lesson_{lesson.name}_{at}", link.page)
    _open_button(lesson, at, link)


def _moved(step: Step, lesson: Lesson, at: int) -> None:
    """Say so where the reader went on to another model or sentence than the step is about."""
    start, here = start_of(step), reader()
    if (here.model, here.text) != (start.model, start.text):
        with st.container(horizontal=True, vertical_alignment="center"):
            own = step.question is not None and step.question.is_about_the_readers
            about = "" if own else " The question is about the step's."
            st.caption(f"You are looking at a sentence or model of your own.{about}")
            st.button("Put it back", key="lesson_back_to_start", on_click=lesson_state.go, args=(lesson.name, at))


@st.fragment
def _draw_in_place(key: str, page: str) -> None:
    """The view; its messages run only this part of the page again."""
    found = opened()
    if found is None:
        return
    if page == "translate":
        result = draw_stepper(found, key=key)
        if result.fork is not None:
            path = (*found.shown.path[: result.fork.step - 1], result.fork.token_id)
            session.move(path=path, step=result.fork.step)
            st.rerun()
    else:
        draw_heads(found, key=key, explains=False)
    session.write_address(found.address)


def _open_button(lesson: Lesson, at: int, link: Link) -> None:
    name = link.page.capitalize()
    tab = f", tab '{link.tab}'" if link.tab else ""
    inside = link.page in IN_PLACE
    words = f"Open on the page {name}" if inside else f"Go to {name}{tab}"
    if st.button(words, key="lesson_open", type="tertiary" if inside else "secondary", help="The lesson comes along."):
        if link.tab:
            st.session_state[f"{link.page}_tab"] = link.tab
        st.switch_page(f"pages/{link.page}.py", query_params=address(link))


def address(link: Link) -> dict[str, str]:
    """The parameters of a step's page, the lesson's included."""
    query = dict(link.query) | lesson_state.link()
    if link.models:
        query["model"] = link.model(runtime.models())
    return query | ({f"{link.page}_tab": link.tab} if link.tab else {})


def reader() -> Selection:
    """Where the reader is, model and sentence included."""
    state = st.session_state
    model, text = str(state.get(session.MODEL) or ""), str(state.get(session.TEXT) or "")
    return dataclasses.replace(session.place(), model=model, text=text)


def draw_do(lesson: Lesson, at: int, start: Selection) -> None:
    """The one thing to do, and whether it was done."""
    step = lesson.step(at)
    if not step.do:
        return
    key = f"{lesson.name}_{at}"
    st.markdown(f"**Do:** {_filled(step.do, start)}")
    if lesson_state.is_done(lesson.name, at):
        st.markdown(":material/check: Done.")
        return
    checked = step.done is not None
    label = "Check what I did" if checked else "I have done it"
    if not st.button(label, key=f"lesson_do_{key}", on_click=_try_deed, args=(lesson.name, at, step, start)):
        return
    if not lesson_state.is_done(lesson.name, at):
        st.caption("Not yet: the app does not see it. Views report a moment after the last move; then press again.")


def _try_deed(name: str, at: int, step: Step, start: Selection) -> None:
    if step.done is None or has_done(step, start):
        lesson_state.note(name, at, done=True)


def has_done(step: Step, start: Selection) -> bool:
    """Whether the reader is where the step wants them to be."""
    if step.done is None:
        return False
    if not is_deed(step.done.left):
        try:
            return evaluate(step.done, start, reader()) is True
        except TermError:
            return False
    own = tuple(summary for name, summary in runtime.models().items() if name not in SHIPPED)
    widgets = {str(key): value for key, value in st.session_state.items()}
    return done(step.done.left, Here(reader(), start, widgets, own, len(surgery_state.changes())))


def draw_question(lesson: Lesson, at: int, start: Selection) -> None:
    """The question, and after an answer what is right and why."""
    step = lesson.step(at)
    question = step.question
    if question is None or step.missing(runtime.models()):
        return
    try:
        solution = solve(question, lambda expression: evaluate(expression, start, reader()))
    except TermError as without:
        st.warning(plain(f"{_OFF}{without}."))
        return
    outcome = lesson_state.outcome(lesson.name, at)
    with st.form(f"lesson_form_{lesson.name}_{at}", border=False):
        given = _field(question, f"lesson_answer_{lesson.name}_{at}", start)
        kind: Literal["primary", "secondary"] = "primary" if outcome == UNTOUCHED else "secondary"
        sent = st.form_submit_button("Check the answer", type=kind, key=f"lesson_check_{lesson.name}_{at}")
    if sent:
        _take(lesson.name, at, question, solution, given)
    _feedback(lesson.name, at, question, solution, start)


def _field(question: Question, key: str, start: Selection) -> str:
    words = _filled(question.text, start)
    if question.choices:
        texts = [choice.text for choice in question.choices]
        return st.radio(words, texts, index=None, key=key) or ""
    return st.text_input(words, key=key, max_chars=MAX_ANSWER, autocomplete="off") or ""


def _take(name: str, at: int, question: Question, solution: Solution, given: str) -> None:
    if not given.strip():
        st.caption("Choose or type an answer first.")
        return
    before = lesson_state.outcome(name, at)
    tries = lesson_state.give(name, at, given).tries
    if is_right(question, solution, given) and before == UNTOUCHED:
        lesson_state.note(name, at, outcome=AT_ONCE if tries == 1 else LATER)
        st.rerun()


def _feedback(name: str, at: int, question: Question, solution: Solution, start: Selection) -> None:
    outcome, answer = lesson_state.outcome(name, at), lesson_state.given(name, at)
    right = answer is not None and is_right(question, solution, answer.text)
    if answer is not None and not right:
        st.error(f"Not quite: you answered {plain(answer.text)}. {_filled(question.wrong, start, solution.text)}")
        if outcome == UNTOUCHED:
            st.button("Show me the answer", key=f"lesson_show_{name}_{at}", on_click=_show, args=(name, at))
    if outcome == UNTOUCHED:
        return
    if right:
        st.success(f"Right: {plain(answer.text if answer else '')}. {_filled(question.right, start, solution.text)}")
    else:
        said = "The answer" if outcome == SHOWN else "You had it right"
        st.info(f"{said}: {plain(solution.text)}. {_filled(question.right, start, solution.text)}")


def _show(name: str, at: int) -> None:
    lesson_state.note(name, at, outcome=SHOWN)


def _filled(text: str, start: Selection, answer: str = "") -> str:
    """A text with its numbers; where one has no answer, a sentence that says so."""
    try:
        return fill(text, start, answer)
    except TermError as without:
        return plain(f"{_OFF}{without}.")
