"""The lessons that come with the app, checked on the models that come with it: every claim, number and answer.

If a retrained model behaves differently, the failure names the lesson and the step.
"""

import dataclasses
import html
import re
from collections.abc import Callable

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.answers import is_right, solve
from explorer.lessons.exercises import ReaderState, is_done, is_exercise
from explorer.lessons.expressions import TermError, as_number
from explorer.lessons.handout import html_of
from explorer.lessons.lesson import OF_HEADS, Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.screens.lessons.downloads import make_handout
from explorer.screens.lessons.running_models import broken_claims, evaluate, fill, library, start_of
from explorer.web import runtime
from model.config import DecodeConfig
from tests.paths import CHECKPOINTS, ROOT
from tests.some import some

NAMES = "attention machine translate train queries masks order heads why limits lstm decoder"
LESSONS = sorted((read_lesson(path) for path in FOLDER.glob("*.md")), key=lambda lesson: lesson.order)
STEPS = [(lesson, at, step) for lesson in LESSONS for at, step in enumerate(lesson.steps, start=1)]


def test_what_a_lesson_needs_comes_before_it() -> None:
    names = [lesson.name for lesson in LESSONS]
    assert [lesson.name for lesson in LESSONS if not lesson.after] == names[:1]
    assert all(lesson.after in names[:at] for at, lesson in enumerate(LESSONS) if at)


def steps(which: Callable[[Step], object] = lambda step: True) -> pytest.MarkDecorator:
    """A test for every step, or for those of one kind."""
    cases = [(lesson, at) for lesson, at, step in STEPS if which(step)]
    return pytest.mark.parametrize(("lesson", "at"), cases, ids=[f"{one.name}, step {at}" for one, at in cases])


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", CHECKPOINTS)


def here(lesson: Lesson, at: int) -> tuple[Step, Selection]:
    step = lesson.step(at)
    if step.missing(runtime.models()):
        pytest.skip(f"none of {', '.join(step.needs)} is in checkpoints/")
    return step, start_of(step)


def test_the_lessons_are_there_in_reading_order_and_none_is_broken() -> None:
    assert " ".join(lesson.name for lesson in library().lessons) == NAMES
    assert not library().problems
    assert sum(step.link is not None and bool(step.link.tab) for _, _, step in STEPS) >= 10
    assert sum(step.done is not None for _, _, step in STEPS) >= 20


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_five_to_ten_steps_with_questions_and_exercises(lesson: Lesson) -> None:
    assert 5 <= len(lesson.steps) <= 10
    for step in lesson.steps:
        assert step.do, f"{lesson.name}: '{step.title}' has nothing to do"
        assert step.link is not None, f"{lesson.name}: '{step.title}' shows nothing"
        assert step.link.page, f"{lesson.name}: '{step.title}' opens no page"
    assert lesson.recap, f"{lesson.name}: nothing is summed up at the end"
    assert lesson.picture.startswith("<svg "), f"{lesson.name}: the list has no picture of it"
    assert sum(step.question is not None for step in lesson.steps) >= len(lesson.steps) - 1
    assert any(step.done is not None for step in lesson.steps), "the app checks nothing that is done"


@steps()
def test_what_a_step_says_holds(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    assert broken_claims(step, start) == [], f"lesson '{lesson.title}', step {at} '{step.title}'"
    for text in filter(None, (step.text, step.do)):
        filled = fill(text, start)
        assert "{" not in filled
        assert html_of(filled)


@steps()
def test_the_answer_of_a_step_is_computed_not_given_away_and_others_are_wrong(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    question, place = step.question, f"lesson '{lesson.title}', step {at} '{step.title}'"
    if question is None:
        assert at == len(lesson.steps), f"{lesson.name}: only a last step goes without a question"
        return
    try:
        solution = solve(question, lambda expression: evaluate(expression, start, start))
        words = [fill(text, start, solution.text) for text in (question.text, question.right, question.wrong)]
    except TermError as without:
        pytest.fail(f"{place}: {without}")
    assert all(words)
    assert "{" not in "".join(words)
    said = re.match(r"Yes|No\b", question.right)
    assert said is None or solution.text.startswith(said[0]), f"{place}: the answer is {solution.text}"
    if question.choices:
        assert sum(is_right(question, solution, choice.text) for choice in question.choices) == 1
        return
    number, text = as_number(solution.text), " ".join(fill(text, start) for text in (step.text, step.do, question.text))
    wrong = ["", "something else", *([] if number is None else [str(number + 1 + (question.within or 0))])]
    assert all(is_right(question, solution, answer) for answer in (solution.text, f"  {solution.text.upper()} "))
    assert not any(is_right(question, solution, answer) for answer in wrong)
    if number is None:
        assert fill(question.wrong, start) == fill(question.wrong, start, solution.text)
        assert solution.text not in re.findall(r"`([^`]+)`", text), "given away"
    else:
        numbers = re.findall(r"(?<![\w.,])\d[\d.,]*(?: %)?(?![\w])", text)
        assert solution.text not in [written.rstrip(".,") for written in numbers], "given away"


@steps()
def test_a_link_opens_a_place_that_is_there(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    assert step.link is not None
    assert start.model in runtime.models()
    trace = runtime.translate(start.model, start.text, DecodeConfig(), start.path or ()).trace
    layers, heads = trace.weights(start.kind).shape[:2]
    assert start.layer <= layers
    assert start.head <= heads
    assert start.step <= len(trace.read_tokens)
    assert all(at <= size for at, size in zip(start.cell or (), trace.mask(start.kind).shape, strict=False))


@steps(lambda step: step.link is not None and step.link.tab)
def test_a_tab_that_a_step_opens_is_on_its_page(lesson: Lesson, at: int) -> None:
    link = lesson.step(at).link
    assert link is not None
    source = (ROOT / "explorer" / "screens" / link.page / "page.py").read_text(encoding="utf-8")
    assert f'"{link.tab}"' in source


@steps(lambda step: step.done)
def test_no_exercise_is_done_before_anything_was(lesson: Lesson, at: int) -> None:
    step, start = here(lesson, at)
    term = step.done.left
    assert is_exercise(term)
    before = ReaderState(dataclasses.replace(start, step=start.step or 1), start)
    assert not is_done(term, before), f"{lesson.name}, step {at}: done before anything was"
    if term.name == "switched":
        screens = (ROOT / "explorer" / "screens").glob("*/*.py")
        assert any(f'key="{term.values["widget"]}"' in path.read_text(encoding="utf-8") for path in screens)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", some(LESSONS, 4), ids=lambda lesson: lesson.name)
def test_a_handout_has_every_step_and_current_figures(lesson: Lesson) -> None:
    page = make_handout(lesson, answers=True).decode()
    for number, step in enumerate(lesson.steps, start=1):
        assert f"{number}. {html.escape(step.title)}" in page
    shows = [step for step in lesson.steps if step.link and step.link.page in OF_HEADS]
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
