"""The Lessons page and its panel on other pages, in Streamlit's test harness."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.lessons.lesson_file import read_lesson
from explorer.screens.lessons import running_models
from explorer.screens.lessons.running_models import FOLDER
from tests.pages.page import address, as_read, run, visit, words

LESSONS = {lesson.name: lesson for lesson in (read_lesson(path) for path in sorted(FOLDER.glob("*.md")))}


@pytest.fixture(autouse=True)
def _trained(shipped: Path) -> None:
    """The answers follow from the models that come with the program."""


def lesson(name: str = "attention", at: int = 1, **query: str) -> AppTest:
    return visit("lessons", lesson=name, at=str(at), **query)


def click(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return run(at)


def answer(at: AppTest, name: str, number: int, text: str) -> AppTest:
    """Answer the question of a step, by choosing or by typing."""
    key, question = f"lesson_answer_{name}_{number}", LESSONS[name].step(number).question
    assert question is not None
    if question.choices:
        at.radio(key=key).set_value(text)
    else:
        at.text_input(key=key).set_value(text)
    return click(at, f"lesson_check_{name}_{number}")


def feedback(at: AppTest) -> str:
    return as_read(" ".join(element.value for element in [*at.success, *at.error, *at.info]))


def test_a_lesson_from_its_start_to_its_end() -> None:
    """Its questions are answered in test_answers_on_screen."""
    course = LESSONS["attention"]
    at = click(visit("lessons"), "lesson_start_attention")
    for number, step in enumerate(course.steps, start=1):
        assert (address(at)["lesson"], address(at)["at"]) == (course.name, str(number))
        assert f"step {number} of {len(course.steps)}" in words(at)
        assert step.title in words(at)
        if number < len(course.steps):
            click(at, "lesson_next")
    assert at.button(key="lesson_next").disabled
    assert click(at, "lesson_leave").button(key="lesson_start_attention")


def test_the_answer_can_be_shown_and_nothing_is_asked_of_an_empty_one() -> None:
    at = click(lesson(at=2), "lesson_check_attention_2")
    assert "Choose or type an answer first." in words(at)
    assert "The picture is shown once you have answered." in words(at)
    assert not [each for each in at.button if each.key == "lesson_open"]
    answer(at, "attention", 2, "h")
    assert "The picture is shown" not in words(at)
    assert at.button(key="lesson_open")
    assert "The answer: `o`" in feedback(click(at, "lesson_show_attention_2"))
    assert address(at)["done"] == "attention.03"


def test_a_step_opens_its_own_model_and_sentence_and_says_when_the_reader_went_elsewhere() -> None:
    at = lesson(at=7)
    assert at.selectbox(key="model").value == "reverse"
    assert at.text_input(key="text").value == "hello"
    assert "Not yet" in words(click(at, "lesson_do_attention_7"))
    at.text_input(key="text").set_value("letters").run()
    assert "a sentence or model of your own" in words(at)
    assert "Done." in words(click(at, "lesson_do_attention_7"))
    assert "Right: `s`: it begins" in feedback(answer(at, "attention", 7, "s"))
    assert click(at, "lesson_back_to_start").text_input(key="text").value == "hello"


def test_progress_is_read_from_the_link() -> None:
    at = lesson(at=3, done="attention.105~masks.4")
    assert "Done." in words(at)
    assert "1 of 7 steps done" in words(click(at, "lesson_leave"))
    assert address(at)["done"] == "attention.105~masks.4"


@pytest.mark.parametrize(
    "query", [{"lesson": "nothing"}, {"lesson": "attention", "at": "99"}, {"lesson": "masks", "done": "<b>"}]
)
def test_invalid_parts_of_a_link_are_named(query: dict[str, str]) -> None:
    assert visit("lessons", **query).warning


def test_the_lesson_stays_in_view_on_another_page_and_comes_back() -> None:
    at = lesson("masks", 4)
    assert "Go to Masks, tab 'Given target'" in [each.label for each in at.button]
    at.switch_page("pages/masks.py").run()

    def side() -> str:
        return " ".join(each.value for each in at.sidebar.markdown)

    assert "Why close anything?" in side()
    assert "Not yet" in words(click(at, "lesson_do_masks_4"))
    assert "Right:" in feedback(answer(at, "masks", 4, "100"))
    at.session_state["lift_mask"] = True
    click(at, "lesson_do_masks_4")
    assert address(at)["done"] == "masks.0005"
    click(at, "lesson_leave")
    assert "Why close anything?" not in side()


def test_a_broken_file_is_named_and_the_others_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_models, "FOLDER", tmp_path)
    assert "There is no lesson here yet" in words(visit("lessons"))
    (tmp_path / "good.md").write_bytes((FOLDER / "masks.md").read_bytes())
    (tmp_path / "bad.md").write_text('+++\ntitle = "A"\n+++\n', encoding="utf-8")
    at = visit("lessons")
    fault = "bad.md, line 3: the front matter is wrong at 'its content': object missing required field `about`."
    assert fault in words(at)
    assert at.button(key="lesson_start_good")


def test_without_its_model_a_step_says_so(checkpoints: Path) -> None:
    assert "no longer matches the models that are here" in words(lesson())


@pytest.mark.parametrize("typed", ["<img src=x onerror=alert(1)>", "**6** [x](http://a) :red[x] $x$", "`" * 5])
def test_a_typed_answer_is_text(typed: str) -> None:
    (error,) = answer(lesson(), "attention", 1, typed).error
    assert not re.search(r"(?<!\\)(<img|\*\*6|\]\(http|:red\[|``|\$x)", error.value)


def test_presenting_is_in_the_link_and_ends() -> None:
    at = lesson(present="1")
    assert at.button(key="lesson_present").label == "End presentation"
    assert "present" not in click(at, "lesson_present").query_params
