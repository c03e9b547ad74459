"""The lessons that come with the app, against the models that come with it: every claim, number and answer.

A model that was trained again and shows something else fails here, with the lesson and the step.
"""

from __future__ import annotations

import dataclasses
import html
import re

import pytest
import streamlit as st

from explorer.lessons.answers import is_right, solve
from explorer.lessons.exercises import Here, done, is_deed
from explorer.lessons.expressions import TermError, as_number
from explorer.lessons.lesson import IN_PLACE, Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.markdown_html import html_of
from explorer.screens.lessons.downloads import make_handout
from explorer.screens.lessons.live import FOLDER, broken_claims, evaluate, fill, shelf, start_of
from explorer.translation.selection import Selection
from explorer.web import runtime
from tests.paths import CHECKPOINTS, ROOT

TITLES = [
    "What is attention?",
    "Queries, keys and values",
    "Why a mask?",
    "Where is the word order?",
    "How does it translate, word by word?",
    "What do heads do?",
    "Train one yourself",
    "Transformer or LSTM?",
    "What attention does not tell you",
]
LESSONS = sorted((read_lesson(path) for path in FOLDER.glob("*.md")), key=lambda lesson: lesson.order)
STEPS = [
    pytest.param(lesson, at, id=f"{lesson.name}, step {at}")
    for lesson in LESSONS
    for at in range(1, len(lesson.steps) + 1)
]


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", CHECKPOINTS)


def here(lesson: Lesson, at: int) -> tuple[Step, Selection]:
    step = lesson.step(at)
    if step.missing(runtime.models()):
        pytest.skip(f"none of {', '.join(step.needs)} is in checkpoints/")
    return step, start_of(step)


def test_the_nine_lessons_are_there_and_none_is_broken() -> None:
    assert [lesson.title for lesson in shelf().lessons] == TITLES
    assert not shelf().problems


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_five_to_ten_steps_that_ask_and_let_do(lesson: Lesson) -> None:
    assert 5 <= len(lesson.steps) <= 10
    for step in lesson.steps:
        assert step.do, f"{lesson.name}: '{step.title}' has nothing to do"
        assert step.link is not None, f"{lesson.name}: '{step.title}' shows nothing"
        assert step.link.page, f"{lesson.name}: '{step.title}' opens no page"
    assert sum(step.question is not None for step in lesson.steps) >= len(lesson.steps) - 1
    assert any(step.done is not None for step in lesson.steps), "the app checks nothing that is done"


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_what_a_step_says_holds(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    assert broken_claims(step, start) == [], f"lesson '{lesson.title}', step {at} '{step.title}'"
    for text in filter(None, (step.text, step.do)):
        filled = fill(text, start)
        assert "{" not in filled
        assert html_of(filled)


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_the_answer_of_a_step_is_computed_and_others_are_wrong(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    question = step.question
    if question is None:
        assert at == len(lesson.steps), f"{lesson.name}: only a last step goes without a question"
        return
    try:
        solution = solve(question, lambda expression: evaluate(expression, start, start))
        words = [fill(text, start, solution.text) for text in (question.text, question.right, question.wrong)]
    except TermError as without:
        pytest.fail(f"lesson '{lesson.title}', step {at} '{step.title}': {without}")
    assert all(words)
    assert "{" not in "".join(words)
    said = re.match(r"Yes|No\b", question.right)
    agrees = said is None or solution.text.startswith(said[0])
    assert agrees, f"lesson '{lesson.title}', step {at} '{step.title}': the answer is {solution.text}"
    if question.choices:
        right = [choice.text for choice in question.choices if is_right(question, solution, choice.text)]
        assert len(right) == 1
        return
    assert is_right(question, solution, solution.text)
    assert is_right(question, solution, f"  {solution.text.upper()} ")
    assert not is_right(question, solution, "")
    assert not is_right(question, solution, "something else")
    number = as_number(solution.text)
    if number is not None:
        assert not is_right(question, solution, str(number + 1 + (question.within or 0)))
    else:
        assert fill(question.wrong, start) == fill(question.wrong, start, solution.text)


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_a_link_opens_a_place_that_is_there(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    assert step.link is not None
    assert start.model in runtime.models()
    from model.config import DecodeConfig

    trace = runtime.translate(start.model, start.text, DecodeConfig(), start.path or ()).trace
    layers, heads = trace.weights(start.kind).shape[:2]
    assert start.layer <= layers
    assert start.head <= heads
    assert start.step <= len(trace.read_tokens)
    if start.cell:
        rows, keys = trace.mask(start.kind).shape
        assert start.cell[0] <= rows
        assert start.cell[1] <= keys


TABS = {
    "masks": ("The masks", "Given target", "While decoding", "Trained without it", "Open padding"),
    "positions": ("The table", "One word", "The rotation", "Alternatives", "Shuffle the words", "Longer than trained"),
    "inside": ("The computation", "Queries and keys", "Layer by layer", "The prediction", "Sizes"),
    "probe": ("All heads", "One head", "Surgery", "Importance", "Search", "Grammar", "Export"),
    "runs": ("Watch heads form", "Compare curves", "Import"),
}


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_a_tab_that_a_step_names_is_on_its_page(lesson: Lesson, at: int) -> None:
    link = lesson.step(at).link
    assert link is not None
    page = (ROOT / "pages" / f"{link.page}.py").read_text(encoding="utf-8")
    if link.tab:
        assert link.tab in TABS[link.page]
        assert f'"{link.tab}"' in page


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_a_deed_is_open_at_first_and_done_by_doing_it(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    if step.done is None:
        return
    term = step.done.left
    assert is_deed(term)
    at_start = dataclasses.replace(start, step=start.step or 1)
    assert not done(term, Here(at_start, start)), f"{lesson.name}, step {at}: done before anything was"
    after = Here(at_start, start)
    if term.name == "at":
        values = term.values
        cell = (int(values.get("row", 0)), int(values.get("key", 0))) if "row" in values else start.cell
        place = dataclasses.replace(at_start, cell=cell)
        for name in ("kind", "layer", "head", "step"):
            if name in values:
                found = values[name] if name == "kind" else int(values[name])
                place = dataclasses.replace(place, **{name: found})  # type: ignore[arg-type]
        after = dataclasses.replace(after, place=place)
    elif term.name == "own_sentence":
        after = dataclasses.replace(after, place=dataclasses.replace(at_start, text="something else"))
    elif term.name == "other_path":
        after = dataclasses.replace(after, place=dataclasses.replace(at_start, path=(9,)))
    elif term.name == "switched":
        after = dataclasses.replace(after, widgets={term.values["widget"]: True})
    elif term.name == "edited":
        after = dataclasses.replace(after, edits=1)
    else:
        architecture = term.values.get("architecture", "transformer")
        own = {"trained": True, "task": term.values.get("task"), "model": {"architecture": architecture}}
        after = dataclasses.replace(after, own=(own,))
    assert done(term, after)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_handout_has_every_step_and_the_figures_of_now(lesson: Lesson) -> None:
    page = make_handout(lesson, answers=True).decode()
    for number, step in enumerate(lesson.steps, start=1):
        assert f"{number}. {html.escape(step.title)}" in page
    shows = [step for step in lesson.steps if step.link and step.link.page in IN_PLACE and not step.after]
    assert page.count("<svg") == sum(not step.missing(runtime.models()) for step in shows)
    assert "<script" not in page
    assert "{" not in re.sub(r"<(style|svg).*?</\1>", "", page, flags=re.DOTALL)
    assert make_handout(lesson, answers=False).decode().count("<h2>Answers</h2>") == 0


def test_switches_that_deeds_look_at_exist() -> None:
    keys = [
        step.done.left.values["widget"]
        for lesson in LESSONS
        for step in lesson.steps
        if step.done is not None and step.done.left.name == "switched"
    ]
    screens = FOLDER.parents[1] / "screens" / "masks"
    sources = "".join(path.read_text(encoding="utf-8") for path in screens.glob("*.py"))
    assert keys
    assert all(f'key="{key}"' in sources for key in keys)


def test_a_model_that_says_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the tests: with another model's weights behind a name, claims break and say so."""
    st.cache_resource.clear()
    lesson = next(lesson for lesson in LESSONS if lesson.name == "masks")
    step = lesson.step(5)
    start = start_of(step)
    assert broken_claims(step, start) == []
    real = runtime.translate

    def other(name: str, *rest: object) -> object:
        return real("adjective-swap" if name == "adjective-swap-unmasked" else name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(runtime, "translate", other)
    st.cache_resource.clear()
    assert any("je lis livres rouge" in problem for problem in broken_claims(step, start))
    st.cache_resource.clear()
