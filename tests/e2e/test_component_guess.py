"""Predict first, in a real browser: what is to be guessed is hidden, and then stands beside the guess.

Every head of the planted trace looks at one key only; the ten likeliest words have 1/2, 1/4, 1/8 …
"""

import pytest

from tests.browser import box_of
from tests.e2e.bench import Bench
from tests.e2e.stage import CURVES, settled, shares
from tests.explorer.planted import planted_trace
from tests.some import some

VISIBLE = """() => [...root.querySelectorAll(".stepper *")].filter((element) =>
  element.checkVisibility({ visibilityProperty: true })).flatMap((element) => [
    ...[...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data.trim()),
    element.ariaLabel, element.getAttribute("aria-valuetext"), element.title,
  ]).filter(Boolean)"""


def guessing(stage: Bench, **changes: int) -> None:
    stage.mount(view="guess", **({"step": 2, "layer": 1, "head": 2} | changes))  # row 2 looks at source token 3
    settled(stage)


def is_hidden(stage: Bench) -> bool:
    texts = stage.page.evaluate(VISIBLE)
    told = any("lis" in text.split() or "other1" in text for text in texts)
    painted = stage.page.evaluate(CURVES, 0.5)
    assert told == bool(painted) == any(shares(stage, "source"))
    return not told


def test_the_word_its_probability_and_its_curves_appear_when_somebody_says_so(stage: Bench) -> None:
    guessing(stage)
    assert is_hidden(stage)
    assert stage.text(".target .next .token") == "?"
    assert stage.text(".says").startswith("What comes next?")
    stage.click(".guess button")
    settled(stage)
    assert not is_hidden(stage)
    assert stage.text(".guessed") == "The model writes lis."
    assert stage.text(".says").startswith("To write lis")
    chip = box_of(stage(".target .next .chip"))
    ends = stage.page.evaluate(CURVES, 0.97)
    assert chip["x"] <= min(ends) <= max(ends) <= chip["x"] + chip["width"], "the curve meets the word, which is wider"
    stage.press("ArrowRight")
    assert stage(".guess").is_visible(), "the next word is to be guessed again"
    stage.press("ArrowLeft")
    assert not stage(".guess").is_visible(), "what has been seen stays seen"


@pytest.mark.parametrize(
    ("chip", "answer"),
    [
        (2, "Your guess: 3 red has 100 % of cross-attention, the most."),
        (0, "Your guess: 1 i has 0 % of cross-attention; the most, 100 %, is on 3 red."),
    ],
)
def test_a_click_on_a_source_word_is_a_guess(stage: Bench, chip: int, answer: str) -> None:
    guessing(stage)
    stage(".source .chip").nth(chip).hover()
    settled(stage)
    assert is_hidden(stage), "pointing at a word tells nothing"
    stage(".source .chip").nth(chip).click()
    settled(stage)
    assert not is_hidden(stage)
    assert stage.text(".guessed") == answer
    marked = stage(".source .slot").evaluate_all("all => all.map((slot) => slot.classList.contains('guessed-word'))")
    assert marked == [i == chip for i in range(5)]


@pytest.mark.parametrize(
    ("word", "answer"),
    some(
        [
            ("<b>x</b>", "Your guess: <b>x</b>, not among the 10 likeliest. The model writes lis."),
            ("Lis", "Your guess: Lis, as the model."),
            ("other1", "Your guess: other1, 25.0 %. The model writes lis."),
        ],
        3,
    ),
)
def test_a_typed_word_is_a_guess_also_in_a_presentation(stage: Bench, word: str, answer: str) -> None:
    guessing(stage)
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement")
    stage(".guess input").fill(word)
    stage.press("Enter")
    settled(stage)
    assert not is_hidden(stage)
    assert stage.text(".guessed") == answer
    stage.press("ArrowRight")
    assert stage.step() == "step 3 of 5", "the keys step again"


def test_a_key_and_a_button_switch_it_and_the_address_says_so(stage: Bench) -> None:
    stage.mount(step=2, layer=1, head=2, view="lines.log")
    settled(stage)
    assert not is_hidden(stage)
    stage.press("g")
    settled(stage)
    assert is_hidden(stage)
    assert stage.reported_view() == "lines.guess.log", "the options of the other views stay"
    stage.click(".more > button")
    stage.click(".predict")
    settled(stage)
    assert not is_hidden(stage)
    assert stage.reported_view() == "lines.log"


def test_a_word_that_somebody_chose_needs_no_guess_and_earlier_guesses_stay(stage: Bench) -> None:
    guessing(stage)
    stage.click(".guess button")
    path = tuple(int(i) for i in planted_trace().top_ids[:, 0])
    other = (*path[:3], path[3] + 1, *path[4:])  # another word at step 4
    stage.send(view="guess", step=4, seq="second", path=other, chosen=(3,))
    settled(stage)
    assert not stage(".guess").is_visible()
    for step, waits in ((3, True), (2, False), (1, True)):
        stage.press("ArrowLeft")
        assert stage(".guess").is_visible() == waits, step


def test_the_other_views_are_closed_until_somebody_asks_for_them(heads: Bench) -> None:
    heads.mount(view="heads.guess", step=2)
    assert heads.text(".explorer").startswith("Predict first is on: these views would tell the next words")
    assert "lis" not in heads.text(".explorer")
    heads.click(".sealed button")
    assert not heads(".sealed").is_visible()
    assert "To write lis" in heads.text(".lead")
    assert heads.reported_view() == "heads"
