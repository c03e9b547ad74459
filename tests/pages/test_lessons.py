"""The Lessons page and its panel on other pages, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.lessons.answers import Solution, solve
from explorer.lessons.lesson import Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.screens.lessons import running_models
from explorer.screens.lessons.running_models import evaluate, start_of
from explorer.web import runtime
from tests.pages.teaching import words
from tests.paths import ROOT

FOLDER = ROOT / "explorer" / "lessons" / "content"
LESSONS = sorted((read_lesson(path) for path in FOLDER.glob("*.md")), key=lambda lesson: lesson.order)


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", ROOT / "checkpoints")


def app(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page("pages/lessons.py").run()


def asked(at: AppTest, name: str) -> str:
    """A parameter of the address."""
    found = at.query_params[name]
    return found if isinstance(found, str) else str(found[0])


def solution_of(step: Step) -> Solution:
    assert step.question is not None
    start = start_of(step)
    return solve(step.question, lambda expression: evaluate(expression, start, start))


def answer(at: AppTest, lesson: Lesson, number: int, text: str) -> AppTest:
    key = f"lesson_answer_{lesson.name}_{number}"
    question = lesson.step(number).question
    assert question is not None
    if question.choices:
        at.radio(key=key).set_value(text)
    else:
        at.text_input(key=key).set_value(text)
    return at.button(key=f"lesson_check_{lesson.name}_{number}").click().run()


def said(at: AppTest) -> str:
    return " ".join(element.value for element in [*at.success, *at.error, *at.info]).replace("\\", "")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_from_the_first_step_to_the_last_with_wrong_and_right_answers(lesson: Lesson) -> None:
    at = app()
    at.button(key=f"lesson_start_{lesson.name}").click().run()
    for number, step in enumerate(lesson.steps, start=1):
        assert not at.exception
        assert asked(at, "lesson") == lesson.name
        assert asked(at, "at") == str(number)
        assert f"step {number} of {len(lesson.steps)}" in words(at)
        assert step.title in words(at)
        if step.question is not None and not step.missing(runtime.models()):
            solution, choices = solution_of(step), step.question.choices
            wrong = next((each.text for i, each in enumerate(choices) if i != solution.choice), "no idea")
            right = choices[solution.choice].text if solution.choice is not None else solution.text
            answer(at, lesson, number, wrong)
            assert "Not quite" in said(at)
            assert not at.success
            answer(at, lesson, number, right)
            assert "Right:" in said(at)
            assert "Not quite" not in said(at)
        assert not at.exception
        assert not [each.value for each in at.warning if "no longer matches" in each.value]
        if number < len(lesson.steps):
            at.button(key="lesson_next").click().run()
    assert at.button(key="lesson_next").disabled
    codes = asked(at, "done").split(".")[1]
    assert set(codes) <= set("0246")
    at.button(key="lesson_leave").click().run()
    assert not at.exception
    assert "steps done" in words(at)


def test_the_answer_can_be_shown_and_nothing_is_asked_of_an_empty_one() -> None:
    lesson = LESSONS[0]
    at = app(lesson=lesson.name, at="2")
    at.button(key=f"lesson_check_{lesson.name}_2").click().run()
    assert "Choose or type an answer first." in words(at)
    answer(at, lesson, 2, "h")
    at.button(key=f"lesson_show_{lesson.name}_2").click().run()
    assert "The answer: " in said(at)
    assert f"`{solution_of(lesson.step(2)).text}`" in said(at)
    assert asked(at, "done") == "attention.03"


def test_hidden_parts_appear_with_the_answer() -> None:
    lesson = LESSONS[0]
    at = app(lesson=lesson.name, at="2")
    assert "The picture is shown once you have answered." in words(at)
    assert not [each for each in at.button if each.key == "lesson_open"]
    answer(at, lesson, 2, "o")
    assert "The picture is shown" not in words(at)
    assert at.button(key="lesson_open")


def test_a_step_opens_its_own_model_and_sentence_and_says_when_the_reader_went_elsewhere() -> None:
    at = app(lesson="attention", at="7")
    assert at.selectbox(key="model").value == "reverse"
    assert at.text_input(key="text").value == "hello"
    assert at.button(key="lesson_do_attention_7").click().run()
    assert "Not yet" in words(at)
    at.text_input(key="text").set_value("letters").run()
    assert "a sentence or model of your own" in words(at)
    at.button(key="lesson_do_attention_7").click().run()
    assert "Done." in words(at)
    answer(at, LESSONS[0], 7, "s")
    assert "Right: `s`: it begins" in said(at)
    at.button(key="lesson_back_to_start").click().run()
    assert at.text_input(key="text").value == "hello"


def test_progress_is_read_from_the_link_and_invalid_parts_are_named() -> None:
    at = app(lesson="attention", at="3", done="attention.105~masks.4")
    assert "Done." in words(at)
    at.button(key="lesson_leave").click().run()
    assert "1 of 7 steps done" in words(at)
    assert asked(at, "done") == "attention.105~masks.4"
    for query in ({"lesson": "nothing"}, {"lesson": "attention", "at": "99"}, {"lesson": "masks", "done": "<b>"}):
        broken = app(**query)
        assert not broken.exception
        assert broken.warning, query


def test_the_lesson_stays_in_view_on_another_page_and_comes_back() -> None:
    at = app(lesson="masks", at="4")
    assert "Go to Masks, tab 'Given target'" in [each.label for each in at.button]
    at.switch_page("pages/masks.py").run()
    assert not at.exception
    side = " ".join(each.value for each in at.sidebar.markdown)
    assert "Why close anything?" in side
    at.button(key="lesson_do_masks_4").click().run()
    assert "Not yet" in words(at)
    lesson = next(lesson for lesson in LESSONS if lesson.name == "masks")
    answer(at, lesson, 4, "100")
    assert "Right:" in said(at)
    at.session_state["lift_mask"] = True
    at.button(key="lesson_do_masks_4").click().run()
    assert asked(at, "done") == "masks.0005"
    at.button(key="lesson_leave").click().run()
    assert "Why close anything?" not in " ".join(each.value for each in at.sidebar.markdown)


def test_a_broken_file_is_named_and_the_others_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.md").write_bytes((FOLDER / "masks.md").read_bytes())
    (tmp_path / "bad.md").write_text('+++\ntitle = "A"\n+++\n', encoding="utf-8")
    monkeypatch.setattr(running_models, "FOLDER", tmp_path)
    at = app()
    assert not at.exception
    assert (
        "bad.md, line 3: the front matter is wrong at 'its content': object missing required field `about`."
        in words(at)
    )
    assert at.button(key="lesson_start_good")


def test_no_lesson_and_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_models, "FOLDER", tmp_path)
    assert "There is no lesson here yet" in words(app())
    monkeypatch.setattr(running_models, "FOLDER", FOLDER)
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    at = app(lesson="attention", at="1")
    assert not at.exception
    assert "no longer matches the models that are here" in words(at)


@pytest.mark.parametrize("typed", ["<img src=x onerror=alert(1)>", "**6** [x](http://a) :red[x] $x$", "`" * 5])
def test_a_typed_answer_is_text(typed: str) -> None:
    at = answer(app(lesson="attention", at="1"), LESSONS[0], 1, typed)
    assert not at.exception
    (shown,) = at.error
    assert not re.search(r"(?<!\\)(<img|\*\*6|\]\(http|:red\[|``|\$x)", shown.value)


def test_presenting_is_in_the_link_and_ends() -> None:
    at = app(lesson="attention", at="1", present="1")
    assert at.button(key="lesson_present").label == "End presentation"
    at.button(key="lesson_present").click().run()
    assert "present" not in at.query_params
