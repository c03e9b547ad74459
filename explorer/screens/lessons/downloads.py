"""Downloads of a lesson: the handout for a class."""

from __future__ import annotations

import dataclasses
from functools import partial

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.shown_maps import shown_maps
from explorer.decoding.translator import InputError
from explorer.decoding.view_options import format_view, parse_view
from explorer.files.picture_drawing import draw as draw_figure
from explorer.lessons.answers import solve
from explorer.lessons.expressions import TermError
from explorer.lessons.handout import Figure, Paper, handout, paper_of
from explorer.lessons.lesson import OF_HEADS, Lesson, Step
from explorer.locale.messages import t
from explorer.locale.text import quoted
from explorer.screens.lessons.running_models import evaluate, fill, start_of
from explorer.web import runtime
from explorer.web.downloads import download_button
from model.config import DecodeConfig
from model.folder import CheckpointError
from model.trace import kinds_of


def draw_downloads(lesson: Lesson) -> None:
    """Draw download buttons in an expander; each file is made when its button is pressed."""
    fold = st.expander(t("On paper"), key="lesson_take", on_change="rerun")
    if not fold.open:
        return
    with fold:
        with st.container(horizontal=True):
            _draw_button(t("Handout"), partial(make_handout, lesson, False), f"lesson-{lesson.name}")
            _draw_button(t("Handout with answers"), partial(make_handout, lesson, True), f"lesson-{lesson.name}-key")
        st.caption(t("HTML files that open in any browser, without a network, and print well."))


def _draw_button(label: str, make: partial[bytes], stem: str) -> None:
    download_button(label, make, f"{stem}.html", "text/html", key=stem)


def make_handout(lesson: Lesson, answers: bool) -> bytes:
    """Make the handout of a lesson; its figures and numbers are computed now."""
    figures: dict[Selection, Figure] = {}  # steps with the same selection share a figure
    papers = tuple(_paper(step, figures) for step in lesson.steps)
    return handout(lesson, papers, tuple(figures.values()), answers=answers)


def _paper(step: Step, figures: dict[Selection, Figure]) -> Paper:
    start = start_of(step)
    if step.missing(runtime.models()):
        needed = t("This page needs the model {names}, which was not available.", names=" or ".join(step.needs))
        return Paper(step, needed)
    drawn = _drawn(step, start)
    if drawn is not None and drawn not in figures and (figure := _figure(drawn)) is not None:
        figures[drawn] = figure
    return paper_of(
        step,
        start,
        lambda text, answer: fill(text, start, answer),
        _solution(step, start),
        figure=list(figures).index(drawn) + 1 if drawn in figures else 0,
    )


def _solution(step: Step, start: Selection) -> str:
    if step.question is None:
        return ""
    try:
        return solve(step.question, lambda expression: evaluate(expression, start)).text
    except TermError:
        return ""  # the page says why; the handout leaves the place empty


def _drawn(step: Step, start: Selection) -> Selection | None:
    """The part of a step's selection that its figure shows; no step and no cell, which would give answers away."""
    if step.link is None or step.link.page not in OF_HEADS:
        return None
    view = start.view or ("head" if start.head and start.layer else "heads")
    view = format_view(dataclasses.replace(parse_view(view), guess=False))  # on paper, figures come last
    layer, head = (0, 0) if view == "heads" else (start.layer, start.head)
    return Selection(start.model, start.text, start.path, kind=start.kind, layer=layer, head=head, view=view)


def _figure(drawn: Selection) -> Figure | None:
    """The attention of a selection as a figure; None if there is none."""
    try:
        translation = runtime.translate(drawn.model, drawn.text, DecodeConfig(), drawn.path or ())
    except (InputError, CheckpointError):
        return None  # the text of the step says what is missing
    if drawn.kind not in kinds_of(translation.trace):
        return None
    layer = drawn.layer or translation.trace.weights(drawn.kind).shape[0]
    maps = shown_maps(translation.trace, Place(drawn.kind, layer, drawn.head, 1, None, 1), drawn.view)
    caption = t(
        "{place}; model {model}, sentence {sentence}.",
        place=maps.title,
        model=drawn.model,
        sentence=quoted(drawn.text),
    )
    return Figure(draw_figure(dataclasses.replace(maps, caption=""), "svg"), caption)
