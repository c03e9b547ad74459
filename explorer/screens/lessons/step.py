"""One step of a lesson on screen: its text, its view in the app, its exercise and its question."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

import streamlit as st

from explorer.decoding.names import KIND_NAMES
from explorer.decoding.selection import Selection
from explorer.lessons import exercises
from explorer.lessons.answers import MAX_ANSWER, Solution, feedback, is_right, solve
from explorer.lessons.expressions import TermError
from explorer.lessons.lesson import IN_PLACE, OF_HEADS, Lesson, Link, Question, Step
from explorer.lessons.progress import Outcome
from explorer.locale.glossary import linked
from explorer.locale.messages import t, translated
from explorer.locale.text import plain, quoted
from explorer.screens.lessons import lesson_session
from explorer.screens.lessons.running_models import broken_claims, evaluate, fill, start_of
from explorer.web import address, changes_in_force, runtime, session
from explorer.web.attention_views import draw_heads, draw_stepper
from explorer.web.faults import contained
from explorer.web.open_translation import address_of, open_translation
from explorer.web.page_parts import TabsOf
from model.folder import SHIPPED
from model.trace import kinds_of


def _mismatch(problem: str) -> str:
    """A Markdown sentence that says why a step does not match the models."""
    return plain(t("This page no longer matches the models that are here: {problem}", problem=problem))


def draw_text(step: Step, start: Selection) -> None:
    """Draw the text of the step; its numbers are computed now."""
    if step.missing(runtime.models()):
        needed = t(
            "This page needs the model {names}, which is not here. Go on, and come back once you have it.",
            names=" or ".join(step.needs),
        )
        st.info(plain(needed))
    elif problems := broken_claims(step, start):
        st.warning(_mismatch(" ".join(problems)))
    try:
        st.markdown(linked(fill(step.text, start)))
    except TermError as error:
        st.warning(_mismatch(f"{error}."))


def shows_view(lesson: Lesson, at: int) -> bool:
    """Whether the step's view stands beside its text: it has one, which does not wait for an answer."""
    step = lesson.step(at)
    if step.link is None or step.link.page not in IN_PLACE or step.missing(runtime.models()):
        return False
    return not step.after or lesson_session.has_answered(lesson.name, at)


def draw_view(lesson: Lesson, at: int, tabs: Callable[[str], TabsOf]) -> None:
    """Draw the step's view, if it can be drawn in place, and a button that opens its page; `tabs` are other pages'."""
    step = lesson.step(at)
    link = step.link
    if link is None or not link.page or step.missing(runtime.models()):
        return
    if step.after and not lesson_session.has_answered(lesson.name, at):
        st.caption(
            t("The picture is shown once you have answered.")
            if link.page in IN_PLACE
            else t("The button that opens the page is shown once you have answered.")
        )
        return
    if link.page in IN_PLACE:
        _draw_detour(step, lesson, at)
        _draw_in_place(lesson, at, tabs)
    if not step.asks_first or lesson_session.has_answered(lesson.name, at):  # the page itself guesses nothing
        _draw_open_button(lesson, at, link)


def _draw_detour(step: Step, lesson: Lesson, at: int) -> None:
    """If the reader has changed the model or sentence, say so, and offer to return to the step's."""
    start, here = start_of(step), reader()
    if (here.model, here.text) != (start.model, start.text):
        with st.container(horizontal=True, vertical_alignment="center"):
            own = step.question is not None and step.question.is_about_the_readers
            st.caption(
                t("You are looking at a sentence or model of your own.")
                if own
                else t("You are looking at a sentence or model of your own. The question is about the page's.")
            )
            st.button(t("Put it back"), key="lesson_back_to_start", on_click=lesson_session.go, args=(lesson.name, at))


@st.fragment
@contained("lesson_view")
def _draw_in_place(lesson: Lesson, at: int, tabs: Callable[[str], TabsOf]) -> None:
    """Draw the view; its messages rerun only this part of the page, and the whole page once the exercise is done."""
    step = lesson.step(at)
    link = step.link
    if link is None:
        return
    opened = open_translation(edited=link.page in OF_HEADS)
    if opened is None:
        return
    key, model = f"lesson_{lesson.name}_{at}", opened.translation.model
    if link.page not in OF_HEADS:
        named = tabs(link.page)(opened.translation, runtime.describe(model))
        tab = link.tab or next(iter(named))
        if draw := named.get(tab):
            draw()
        else:
            unfit = t(
                "This page shows the tab {tab}, which does not apply to {model}.",
                tab=quoted(translated(tab)),
                model=model,
            )
            st.info(plain(unfit))
        session.write_address(address_of(opened))
        _take_exercise(lesson, at, start_of(step))
        return
    kind = start_of(step).kind
    if "kind" in dict(link.query) and kind not in kinds_of(opened.translation.trace):
        asked = t("decoder self-attention") if kind == "decoder" else translated(KIND_NAMES[kind])
        st.info(plain(t("This page shows {kind}, which {model} does not have.", kind=asked, model=model)))
        return
    changes_in_force.draw_edited(opened.translation)
    if link.page == "translate":
        result = draw_stepper(opened, key=key)
        if result.fork is not None:
            path = (*opened.translation.path[: result.fork.step - 1], result.fork.token_id)
            session.move(path=path, step=result.fork.step)
            st.rerun()
    else:
        draw_heads(opened, key=key, explains=False)
    session.write_address(address_of(opened))
    _take_exercise(lesson, at, start_of(step))


def _draw_open_button(lesson: Lesson, at: int, link: Link) -> None:
    name = translated(link.page.capitalize())
    kind: Literal["tertiary", "secondary"] = "tertiary" if link.page in IN_PLACE else "secondary"
    if link.page in IN_PLACE:
        label = t("Open on the page {page}", page=name)
    elif link.tab:
        label = t("Go to {page}, tab '{tab}'", page=name, tab=translated(link.tab))
    else:
        label = t("Go to {page}", page=name)
    if st.button(label, key="lesson_open", type=kind, help=t("The lesson stays open in the sidebar.")):
        if link.tab:
            st.session_state[f"{link.page}_tab"] = link.tab
        st.switch_page(f"pages/{link.page}.py", query_params=address_of_link(link))


def address_of_link(link: Link) -> dict[str, str]:
    """The URL parameters of a step's page, the lesson's included."""
    query = dict(link.query) | lesson_session.link()
    if link.models:
        query["model"] = link.model(runtime.models())
    return query | ({f"{link.page}_tab": link.tab} if link.tab else {})


def reader() -> Selection:
    """The reader's own selection, model and sentence included."""
    state = st.session_state
    model, text = str(state.get(session.MODEL) or ""), str(state.get(session.TEXT) or "")
    return dataclasses.replace(session.selection(), model=model, text=text)


def draw_exercise(lesson: Lesson, at: int, start: Selection) -> None:
    """Draw the step's exercise and, if the app can check it, whether it was done: what the reader does ticks itself."""
    step = lesson.step(at)
    if not step.do:
        return
    st.markdown(t("**Do:** {exercise}", exercise=_filled(step.do, start)))
    if step.done is None:
        return
    _take_exercise(lesson, at, start)
    if lesson_session.record(lesson.name, at).done:
        st.markdown(f":material/check: {t('Done.')}")


def _take_exercise(lesson: Lesson, at: int, start: Selection) -> None:
    """Record that the exercise was done, if it just was, and run the whole page: text and address then show it."""
    if not lesson_session.record(lesson.name, at).done and has_done(lesson.step(at), start):
        lesson_session.set_done(lesson.name, at)
        st.rerun()


def has_done(step: Step, start: Selection) -> bool:
    """Whether the reader has done what the step asks."""
    if step.done is None:
        return False
    if not exercises.is_exercise(step.done.left):
        try:
            return evaluate(step.done, start, reader()) is True
        except TermError:
            return False
    own = tuple(summary for name, summary in runtime.models().items() if name not in SHIPPED)
    widgets = {str(key): value for key, value in st.session_state.items()}
    block = address.BLOCK.current().get("block", "")
    state = exercises.ReaderState(reader(), start, widgets, own, len(changes_in_force.changes()), block)
    return exercises.is_done(step.done.left, state)


def draw_question(lesson: Lesson, at: int, start: Selection) -> None:
    """Draw the question, and after an answer the feedback."""
    step = lesson.step(at)
    question = step.question
    if question is None or step.missing(runtime.models()):
        return
    try:
        solution = solve(question, lambda expression: evaluate(expression, start, reader()))
    except TermError as error:
        st.warning(_mismatch(f"{error}."))
        return
    unanswered = lesson_session.record(lesson.name, at).outcome == Outcome.UNANSWERED
    with st.form(f"lesson_form_{lesson.name}_{at}", border=False):
        reply = _draw_field(question, f"lesson_answer_{lesson.name}_{at}", start)
        kind: Literal["primary", "secondary"] = "primary" if unanswered else "secondary"
        sent = st.form_submit_button(t("Check the answer"), type=kind, key=f"lesson_check_{lesson.name}_{at}")
    if sent:
        _take_answer(lesson.name, at, question, solution, reply)
    with st.container(key="lesson_feedback"):
        _draw_feedback(lesson.name, at, question, solution, start)


def _draw_field(question: Question, key: str, start: Selection) -> str:
    label = _filled(question.text, start)
    if question.choices:
        texts = [choice.text for choice in question.choices]
        return st.radio(label, texts, index=None, key=key) or ""
    return st.text_input(label, key=key, max_chars=MAX_ANSWER, autocomplete="off") or ""


def _take_answer(name: str, at: int, question: Question, solution: Solution, reply: str) -> None:
    if not reply.strip():
        st.caption(t("Choose or type an answer first."))
        return
    before = lesson_session.record(name, at).outcome
    tries = lesson_session.add_answer(name, at, reply).tries
    if is_right(question, solution, reply) and before == Outcome.UNANSWERED:
        lesson_session.set_outcome(name, at, Outcome.FIRST_TRY if tries == 1 else Outcome.LATER)
        st.rerun()


def _draw_feedback(name: str, at: int, question: Question, solution: Solution, start: Selection) -> None:
    record = lesson_session.record(name, at)
    boxes = {"wrong": st.error, "right": st.success, "neutral": st.info}
    for message in feedback(question, solution, record, lambda text, answer: _filled(text, start, answer)):
        boxes[message.tone](message.text)
        if message.tone == "wrong" and record.outcome == Outcome.UNANSWERED:
            args = (name, at, Outcome.SHOWN)
            st.button(
                t("Show me the answer"), key=f"lesson_show_{name}_{at}", on_click=lesson_session.set_outcome, args=args
            )


def _filled(text: str, start: Selection, answer: str = "") -> str:
    """A text with its placeholders replaced; if one cannot be computed, a sentence that says so."""
    try:
        return fill(text, start, answer)
    except TermError as error:
        return _mismatch(f"{error}.")
