"""The lessons that come with the app, checked on the models that come with it: every claim, number and answer.

If a retrained model behaves differently, the failure names the lesson and the step.
"""

from __future__ import annotations

import ast
import dataclasses
import html
import re

import pytest
import streamlit as st

from explorer.decoding.selection import Selection
from explorer.lessons.answers import is_right, solve
from explorer.lessons.exercises import ReaderState, is_done, is_exercise
from explorer.lessons.expressions import Term, TermError, as_number
from explorer.lessons.handout import html_of
from explorer.lessons.lesson import IN_PLACE, Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.screens.inside.machine import LEDGER
from explorer.screens.lessons.downloads import make_handout
from explorer.screens.lessons.running_models import FOLDER, broken_claims, evaluate, fill, library, start_of
from explorer.web import runtime
from tests.paths import CHECKPOINTS, ROOT

TITLES = [
    "What is attention?",
    "The whole machine",
    "How does it translate, word by word?",
    "Train one yourself",
    "Queries, keys and values",
    "Why a mask?",
    "Where is the word order?",
    "What do heads do?",
    "Why does it look there?",
    "What attention does not tell you",
    "Transformer or LSTM?",
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


def test_the_lessons_are_there_in_reading_order_and_none_is_broken() -> None:
    assert [lesson.title for lesson in library().lessons] == TITLES
    assert not library().problems


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_five_to_ten_steps_with_questions_and_exercises(lesson: Lesson) -> None:
    assert 5 <= len(lesson.steps) <= 10
    for step in lesson.steps:
        assert step.do, f"{lesson.name}: '{step.title}' has nothing to do"
        assert step.link is not None, f"{lesson.name}: '{step.title}' shows nothing"
        assert step.link.page, f"{lesson.name}: '{step.title}' opens no page"
    assert lesson.recap, f"{lesson.name}: nothing is summed up at the end"
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


WITH_TAB = [
    pytest.param(step.link.page, step.link.tab, id=f"{lesson.name}, step {at}")
    for lesson in LESSONS
    for at, step in enumerate(lesson.steps, start=1)
    if step.link is not None and step.link.tab
]
WITH_EXERCISE = [
    pytest.param(lesson, at, id=f"{lesson.name}, step {at}")
    for lesson in LESSONS
    for at, step in enumerate(lesson.steps, start=1)
    if step.done is not None
]


def test_some_steps_open_a_tab_and_some_have_an_exercise_that_the_app_checks() -> None:
    assert len(WITH_TAB) >= 10
    assert len(WITH_EXERCISE) >= 20


@pytest.mark.parametrize(("page", "tab"), WITH_TAB)
def test_a_tab_that_a_step_opens_is_on_its_page(page: str, tab: str) -> None:
    tree = ast.parse((ROOT / "explorer" / "screens" / page / "page.py").read_text(encoding="utf-8"))
    names = {
        name.value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Dict, ast.List))
        for entry in (node.keys if isinstance(node, ast.Dict) else node.elts)
        for name in (entry.args if isinstance(entry, ast.Call) else [entry])  # t("Compare curves") names a tab
        if isinstance(name, ast.Constant)
    }
    names |= {
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    if page == "inside":
        names.add(LEDGER)
    assert tab in names


@pytest.mark.parametrize(("lesson", "at"), WITH_EXERCISE)
def test_an_exercise_is_open_until_it_is_done(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    assert step.done is not None
    term = step.done.left
    assert is_exercise(term)
    at_start = dataclasses.replace(start, step=start.step or 1)
    before = ReaderState(at_start, start)
    assert not is_done(term, before), f"{lesson.name}, step {at}: done before anything was"
    after, others = done_and_nearly(term, before)
    assert is_done(term, after)
    assert others
    assert not any(is_done(term, other) for other in others)


def done_and_nearly(term: Term, before: ReaderState) -> tuple[ReaderState, list[ReaderState]]:
    """The state of a reader who has done an exercise, and states of readers who have not."""
    values, start = term.values, before.selection

    def at(**changes: object) -> ReaderState:
        return dataclasses.replace(before, selection=dataclasses.replace(start, **changes))  # type: ignore[arg-type]

    if term.name == "at":
        wanted = {name: values[name] if name == "kind" else int(values[name]) for name in values}
        cell = (wanted.pop("row", 0), wanted.pop("key", 0)) if "row" in values else start.cell
        changed: dict[str, object] = {**wanted, "cell": cell}
        wrong = {"kind": "decoder", "layer": 9, "head": 9, "step": 9, "cell": (9, 9)}
        missed = ["cell"] if "row" in values else list(wanted)
        return at(**changed), [at(**{**changed, name: wrong[name]}) for name in missed]
    if term.name == "own_sentence":
        return at(text="something else"), [at(text=f" {start.text} "), at(text="  ")]
    if term.name == "other_path":
        return at(path=(9,)), [at(path=before.start.path)]
    if term.name == "switched":
        widget, value = values["widget"], values["value"]
        done = dataclasses.replace(before, widgets={widget: value})
        return done, [dataclasses.replace(before, widgets={widget: False, "another": value})]
    if term.name == "edited":
        return dataclasses.replace(before, edits=1), [at(kind="decoder")]
    own = {
        "trained": True,
        "task": values.get("task"),
        "model": {"architecture": values.get("architecture", "transformer")},
    }
    others = [{**own, "trained": False}]
    if "task" in values:
        others += [{**own, "task": "another"}, {**own, "model": {"architecture": "another"}}]
    return (
        dataclasses.replace(before, own=(own,)),
        [dataclasses.replace(before, own=(other,)) for other in others],
    )


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_handout_has_every_step_and_current_figures(lesson: Lesson) -> None:
    page = make_handout(lesson, answers=True).decode()
    for number, step in enumerate(lesson.steps, start=1):
        assert f"{number}. {html.escape(step.title)}" in page
    shows = [step for step in lesson.steps if step.link and step.link.page in IN_PLACE]
    here = [step for step in shows if not step.missing(runtime.models())]
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    captions = re.findall(r"<figcaption>Figure \d+\. (.*?)</figcaption>", page)
    assert len(drawings) == len(captions) == len(set(captions)) <= len(here)
    assert page.count("ook at figure ") == len(here)
    assert "<script" not in page
    assert "{" not in re.sub(r"<(style|svg).*?</\1>", "", page, flags=re.DOTALL)
    without = make_handout(lesson, answers=False).decode()
    assert "<h2>Answers</h2>" not in without
    # What is drawn comes after all questions, under a caption that names it and does not read it out.
    assert "<svg" not in without.partition("<h2>Figures</h2>")[0]
    for caption in captions:
        assert "%" not in caption
        assert "looks" not in caption


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_a_step_does_not_give_its_own_answer_away(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    if step.question is None or step.question.choices:
        return
    solution = solve(step.question, lambda expression: evaluate(expression, start, start)).text
    said = " ".join(fill(text, start) for text in (step.text, step.do, step.question.text))
    if as_number(solution) is None:
        assert solution not in re.findall(r"`([^`]+)`", said)
    else:
        numbers = re.findall(r"(?<![\w.,])\d[\d.,]*(?: %)?(?![\w])", said)
        assert solution not in [number.rstrip(".,") for number in numbers]


def test_switches_named_in_exercises_exist() -> None:
    keys = [
        step.done.left.values["widget"]
        for lesson in LESSONS
        for step in lesson.steps
        if step.done is not None and step.done.left.name == "switched"
    ]
    screens = FOLDER.parents[1] / "screens"
    sources = "".join(path.read_text(encoding="utf-8") for path in screens.glob("*/*.py"))
    assert keys
    assert all(f'key="{key}"' in sources for key in keys)


def test_a_model_with_other_answers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the tests: with another model's weights behind a name, claims fail and say so."""
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
