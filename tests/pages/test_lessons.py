"""The Lessons page and its panel on other pages, in Streamlit's test harness."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.lessons.library import FOLDER
from explorer.screens.lessons import running_models
from tests.pages.page import address, as_read, assert_says, choose, click, visit, widget, words

pytestmark = pytest.mark.usefixtures("shipped")  # the answers follow from the models that come with the program


def lesson(name: str = "attention", at: int = 1, **query: str) -> AppTest:
    return visit("lessons", lesson=name, at=str(at), **query)


def answer(at: AppTest, name: str, number: int, text: str) -> AppTest:
    widget(at, f"lesson_answer_{name}_{number}").set_value(text)
    return click(at, f"lesson_check_{name}_{number}")


def feedback(at: AppTest) -> str:
    return as_read(" ".join(element.value for element in [*at.success, *at.error, *at.info]))


def test_the_answer_can_be_shown_and_nothing_is_asked_of_an_empty_one() -> None:
    at = click(lesson("decoder", at=5), "lesson_check_decoder_5")
    assert_says(at, "Choose or type an answer first.", "The picture is shown once you have answered.")
    assert not [each for each in at.button if each.key == "lesson_open"]
    assert "Do:" not in words(at), "one thing at a time"
    answer(at, "decoder", 5, "olleh, as before")
    assert "The picture is shown" not in words(at)
    assert_says(at, "Compare head 4 with head 3")
    assert at.button(key="lesson_open")
    assert "The answer: Something else" in feedback(click(at, "lesson_show_decoder_5"))
    assert address(at)["done"] == "decoder.00003"


def test_the_list_says_what_a_lesson_takes_and_what_is_done_of_it() -> None:
    assert_says(
        visit("lessons", done="queries.1"),
        "20 min · after 2 · from age 16 · **0 of 6 pages done***",
        "15 min · from age 13*",
    )


def test_a_step_opens_its_own_model_and_sentence_and_says_when_the_reader_went_elsewhere() -> None:
    at = lesson(at=7)
    assert at.selectbox(key="model").value == "reverse"
    assert at.text_input(key="text").value == "hello"
    assert "Done." not in words(at)
    choose(at, text="letters")
    assert_says(at, "a sentence or model of your own", "Done.")
    assert "Right: `s`, since it begins" in feedback(answer(at, "attention", 7, "s"))
    assert click(at, "lesson_back_to_start").text_input(key="text").value == "hello"


def test_a_tab_of_another_page_is_drawn_beside_the_text_and_ticks_what_was_done_in_it() -> None:
    at = lesson("masks", 4)
    assert_says(at, "Decoder self-attention, masked", "Why close anything?")
    assert "Done." not in words(at)
    at.toggle(key="lift_mask").set_value(True).run()
    assert_says(at, "Decoder self-attention, mask lifted", "Done.")
    assert address(at)["done"] == "masks.0004"


def test_a_lesson_stays_open_on_another_page() -> None:
    at = click(lesson("masks", 4), "lesson_open")
    at.switch_page("pages/masks.py").run()  # which the harness forgets
    assert "Why close anything?" in " ".join(element.value for element in at.sidebar.markdown)
    assert "Done." not in words(at)
    at.toggle(key="lift_mask").set_value(True).run()
    assert "Done." in " ".join(element.value for element in at.sidebar.markdown)
    assert address(click(at, "lesson_onward"))["at"] == "5"


def test_a_step_opens_its_block_of_the_machine_and_the_next_step_its_own() -> None:
    at = lesson("machine", 4)
    assert address(at)["block"] == "decoder.0.cross_attn.h2"
    click(at, "lesson_next")
    assert address(at)["block"] == "decoder.1.self_attn.h1.scores"
    assert "block" not in address(click(at, "lesson_leave"))


def test_the_end_names_what_is_open_and_nothing_else() -> None:
    at = lesson("machine", 6, done="machine.515501")
    parts = "the exercise of page 2, the question of page 5, the exercise of page 5 and the exercise of page 6"
    assert_says(at, f"Still open: {parts}.")
    whole = lesson("machine", 6, done="machine.555555")
    assert "Still open" not in words(whole)
    assert_says(whole, "Nothing is open: every question is answered")


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


@pytest.mark.parametrize(
    ("name", "step", "why"),
    [
        ("attention", 3, "This page shows cross-attention, which reverse-decoder does not have."),
        ("order", 3, "This page shows the tab “Shuffle the words”, which does not apply to reverse-decoder."),
    ],
)
def test_a_step_of_a_lesson_says_if_it_does_not_apply_to_the_chosen_model(name: str, step: int, why: str) -> None:
    at = lesson(name, step)
    assert "This page shows" not in words(at)
    assert why in words(choose(at, model="reverse-decoder"))
