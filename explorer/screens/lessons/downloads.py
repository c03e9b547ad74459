"""Take a lesson away: the handout for the class, and the summary to hand in."""

from __future__ import annotations

import dataclasses
import datetime
from functools import partial

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.attention.shown_maps import ShownMaps, shown_maps
from explorer.export.figure_files import draw as draw_figure
from explorer.lessons.answers import solve
from explorer.lessons.expressions import TermError
from explorer.lessons.handout import Paper, handout, summary
from explorer.lessons.lesson import IN_PLACE, Lesson, Step
from explorer.screens.lessons import state as lesson_state
from explorer.screens.lessons.live import evaluate, fill, start_of
from explorer.screens.lessons.state import Record
from explorer.translation.selection import Selection
from explorer.translation.translator import InputError
from explorer.web import runtime
from explorer.web.downloads import download_button
from model.config import DecodeConfig
from model.folder import CheckpointError
from model.trace import kinds_of

MAX_NAME = 120


def draw_take(lessons: tuple[Lesson, ...]) -> None:
    """Downloads, behind a fold; files are made when they are asked for."""
    fold = st.expander("On paper: handout and summary", key="lesson_take", on_change="rerun")
    if not fold.open or not lessons:
        return
    with fold:
        who = st.text_input("Your name, for the summary", key="lesson_who", max_chars=MAX_NAME, autocomplete="off")
        with st.container(horizontal=True):
            _button("Summary to hand in", partial(_summary, lessons, who or "", _records(lessons)), "lessons-summary")
            if len(lessons) == 1:
                _button("Handout", partial(make_handout, lessons[0], False), f"lesson-{lessons[0].name}")
                _button(
                    "Handout with answers", partial(make_handout, lessons[0], True), f"lesson-{lessons[0].name}-key"
                )
        st.caption("HTML files that open in any browser, without a network, and print well.")


def _button(label: str, make: partial[bytes], stem: str) -> None:
    download_button(label, make, f"{stem}.html", "text/html", key=stem)


def make_handout(lesson: Lesson, answers: bool) -> bytes:
    """The handout of a lesson with the figures and numbers of now."""
    return handout(lesson, tuple(_paper(step) for step in lesson.steps), answers=answers)


def _paper(step: Step) -> Paper:
    start = start_of(step)
    if step.missing(runtime.models()):
        return Paper(step, f"This step needs the model {' or '.join(step.needs)}, which was not there.")

    def filled(text: str, answer: str = "") -> str:
        try:
            return fill(text, start, answer)
        except TermError as without:
            return f"({without})"

    question, solution = step.question, ""
    if question is not None:
        solution = _solution(step, start)
    sheet = _sheet(step, start)
    return Paper(
        step=step,
        text=filled(step.text),
        do=filled(step.do),
        ask=filled(question.text) if question else "",
        right=filled(question.right, solution) if question else "",
        solution=solution,
        where=_where(step, start),
        # The page has the caption in its own type, under the drawing.
        figure=draw_figure(dataclasses.replace(sheet, caption=""), "svg").content if sheet and not step.after else b"",
        caption=sheet.caption if sheet else "",
    )


def _solution(step: Step, start: Selection) -> str:
    if step.question is None:
        return ""
    try:
        return solve(step.question, lambda expression: evaluate(expression, start)).text
    except TermError:
        return ""  # the page says why; paper leaves the place empty


def _where(step: Step, start: Selection) -> str:
    if step.link is None or not step.link.page:
        return ""
    tab = f", tab {step.link.tab}" if step.link.tab else ""
    about = f"; model {start.model}, sentence “{start.text}”" if start.model else ""
    return f"page {step.link.page.capitalize()}{tab}{about}."


def _sheet(step: Step, start: Selection) -> ShownMaps | None:
    """The step's attention as a figure; None where it shows none."""
    if step.link is None or step.link.page not in IN_PLACE:
        return None
    try:
        shown = runtime.translate(start.model, start.text, DecodeConfig(), start.path or ())
    except (InputError, CheckpointError):
        return None  # the text of the step says what is missing
    if start.kind not in kinds_of(shown.trace):
        return None
    layers = shown.trace.weights(start.kind).shape[0]
    row, key = start.cell or (1, 0)
    view = start.view or ("head" if start.head and start.layer else "heads")
    at = Place(start.kind, start.layer or layers, start.head, row, key or None, max(start.step, 1))
    return shown_maps(shown.trace, at, view)


def _records(lessons: tuple[Lesson, ...]) -> dict[tuple[str, int], Record]:
    """How every step went: read here, since files are made outside of the session."""
    return {
        (lesson.name, at): lesson_state.record(lesson.name, at)
        for lesson in lessons
        for at in range(1, len(lesson.steps) + 1)
    }


def _summary(lessons: tuple[Lesson, ...], who: str, records: dict[tuple[str, int], Record]) -> bytes:
    begun = {name for (name, _), record in records.items() if record != Record()}
    chosen = tuple(lesson for lesson in lessons if lesson.name in begun) or lessons
    words = {(lesson.name, at): _words(step) for lesson in chosen for at, step in enumerate(lesson.steps, start=1)}
    when = f"{datetime.date.today():%Y-%m-%d}"
    return summary(chosen, who=who, when=when, records=records, words=words)


def _words(step: Step) -> tuple[str, str]:
    """A step's question and right answer."""
    if step.question is None:
        return "", ""
    try:
        asked = fill(step.question.text, start_of(step))
    except TermError:
        asked = step.question.text
    return asked, "" if step.missing(runtime.models()) else _solution(step, start_of(step))
