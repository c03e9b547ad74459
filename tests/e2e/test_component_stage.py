"""The stage: the word being written, and the curves from it to the words that it looks at.

Every head of the planted trace looks at one key only, so each row and column is known.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.e2e.stepper_bench import Bench
from tests.explorer.planted import planted_trace, planted_view

# Where on a line between source (0) and target (1) something is painted, in pixels of the page.
CURVES = """(share) => {
  const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
  const stage = root.querySelector(".stage").getBoundingClientRect();
  const source = root.querySelector(".source .chips").getBoundingClientRect();
  const target = root.querySelector(".target .chips").getBoundingClientRect();
  const y = Math.round((source.bottom + (target.top - source.bottom) * share - stage.top) * ratio);
  const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
  return [...data].filter((_, i) => i % 4 === 3).flatMap((opacity, x) => (opacity ? [x / ratio + stage.left] : []));
}"""
MIDDLE = """(name) => {
  const { left, right } = root.querySelector(name).getBoundingClientRect();
  return (left + right) / 2;
}"""


@pytest.fixture
def bench(page: Page) -> Bench:
    return Bench(page)


def shares(bench: Bench, side: str) -> list[str]:
    return [text.strip() for text in bench(f".{side} .meter").all_inner_texts()]


def settled(bench: Bench) -> None:
    """The curves have arrived."""
    bench.page.wait_for_timeout(300)
    bench.frame()


def test_a_curve_runs_from_the_word_being_written_to_the_word_it_looks_at(bench: Bench) -> None:
    bench.mount(planted_view(step=2, layer=1, head=2))  # row 2 looks at source token 3
    settled(bench)
    assert shares(bench, "source") == ["", "", "100\u202f%", "", ""]
    assert bench.text(".says") == (
        "To write lis, having read 2 je, cross-attention looks at 3 red 100 %. (Layer 1, head 2.)"
    )
    painted = bench.page.evaluate(CURVES, 0.5)
    ends = [
        bench.page.evaluate(MIDDLE, name)
        for name in (".target .slot:nth-child(3) .chip", ".source .slot:nth-child(3) .chip")
    ]
    assert painted
    assert min(ends) - 8 <= min(painted) <= max(painted) <= max(ends) + 8


def test_pointing_at_a_word_of_the_translation_shows_the_row_that_predicted_it(bench: Bench) -> None:
    bench.mount(planted_view(step=4, layer=1, head=1))
    bench(".target .chip").nth(2).hover()
    bench.frame()
    assert bench.text(".says").startswith("To write lis, having read 2 je, cross-attention looks at 2 read 100")
    bench(".target .chip").nth(0).hover()
    bench.frame()
    assert bench.text(".says") == "<sos> is given at the start: nothing was looked at to write it."
    assert bench.step() == "step 4 of 5", "pointing does not step"


def test_a_click_on_a_word_of_the_translation_goes_to_its_step_and_the_keys_go_on_from_there(bench: Bench) -> None:
    bench.mount(planted_view(step=4))
    bench(".target .chip").nth(2).click()
    bench.frame()
    assert bench.step() == "step 2 of 5"
    bench.press("ArrowRight")
    assert bench.step() == "step 3 of 5"


def test_a_source_word_says_which_words_it_was_looked_at_for_and_a_click_holds_it(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))  # row t looks at token t
    bench(".source .chip").nth(1).click()
    bench(".source .tag").hover()
    bench.frame()
    assert bench.text(".says") == "2 read was looked at to write lis 100 % (layer 1, head 1)."
    assert shares(bench, "target")[:4] == ["", "", "100\u202f%", ""]
    assert bench(".source .chip").nth(1).get_attribute("aria-pressed") == "true"
    bench.press("Escape")
    assert bench.text(".says").startswith("To write livres")


def test_source_words_are_reached_by_keyboard(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))
    bench.page.locator("#elsewhere").focus()
    bench.press("Tab")
    bench.press("ArrowRight", "ArrowRight")
    assert bench.text(".says") == "3 red was looked at to write livres 100 % (layer 1, head 1)."
    assert bench.step() == "step 3 of 5", "there, the arrow keys go from word to word"


def test_arcs_within_a_sentence(bench: Bench) -> None:
    bench.mount(planted_view(step=3, kind="decoder", layer=1, head=1))  # looks at the token before the one it reads
    assert bench.text(".says").startswith("To write livres, having read 3 lis, decoder self-attention looks at 2 je")
    assert shares(bench, "target")[:4] == ["", "100\u202f%", "", ""]
    bench(".kinds button[value=encoder]").click()
    bench(".source .chip").nth(0).hover()
    bench.frame()
    assert bench.text(".says") == "1 i looks at 2 read 50 %, 3 red 50 %. (Encoder, layer 2, mean of 2 heads.)"


def test_curves_move_in_about_200_ms_and_not_at_all_for_reduced_motion(bench: Bench) -> None:
    script = """() => new Promise((done) => {
      const canvas = root.querySelector(".curves"), seen = new Set();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
      const begun = performance.now();
      const look = () => {
        seen.add(canvas.toDataURL());
        if (performance.now() - begun < 1500) requestAnimationFrame(look);
        else done(seen.size);
      };
      requestAnimationFrame(look);
    })"""
    bench.page.emulate_media(reduced_motion="reduce")
    bench.mount(planted_view(step=2, layer=1, head=1))
    settled(bench)
    assert bench.page.evaluate(script) == 1
    bench.page.emulate_media(reduced_motion="no-preference")
    bench.mount(planted_view(step=2, layer=1, head=1, seq="again"))
    settled(bench)
    assert bench.page.evaluate(script) > 1


def test_a_chosen_word_is_called_chosen(bench: Bench) -> None:
    bench.mount(planted_view(step=3, chosen=(2,), path=(100, 101, 201, 103, 104)))
    assert bench.text(".reads") == "reads 3 lis → chosen: livres"
    assert bench(".option[aria-current]").get_attribute("title") == "The token chosen here, not the likeliest"
    assert "3 lis → chosen livres" in bench.text("figure.cross p")
    assert "chosen" in bench(".target .slot").nth(3).get_attribute("class").split()


def test_the_tokens_that_are_not_listed_have_a_bar_together(bench: Bench) -> None:
    bench.mount(planted_view())  # the ten likeliest have 1/2 + 1/4 + … + 1/1024
    assert bench.text(".others") == "all others 0.1 %"


def test_three_tempos(bench: Bench) -> None:
    bench.mount(planted_view())
    seen = []
    for _ in range(4):
        seen.append(bench.text(".speed span"))
        bench(".speed").click()
        bench.frame()
    assert seen == ["1×", "2×", "½×", "1×"]


def test_a_long_source_scrolls_to_what_is_looked_at(bench: Bench) -> None:
    words = [f"word{i}" for i in range(70)]
    bench.mount(planted_view(planted_trace([*words, "<eos>"], ["<sos>", *words]), step=66, layer=1, head=1))
    chip, chips = (bench(name).bounding_box() for name in (".source .slot:nth-child(66)", ".source .chips"))
    assert chips["y"] - 1 <= chip["y"]
    assert chip["y"] + chip["height"] <= chips["y"] + chips["height"] + 1


def test_on_a_phone_the_word_being_written_is_in_view_and_its_curves_follow_a_swipe(bench: Bench) -> None:
    words = [f"word{i}" for i in range(12)]
    trace = planted_trace([*words, "<eos>"], ["<sos>", *words])
    bench.mount(planted_view(trace, step=9, layer=1, head=1, kind="cross"), width=366)
    settled(bench)
    tops = bench.page.evaluate("[...root.querySelectorAll('.target .chip')].map((c) => c.offsetTop)")
    assert len(set(tops)) == 1
    written, chips = (bench(name).bounding_box() for name in (".target .slot.next", ".target .chips"))
    assert chips["x"] <= written["x"]
    assert written["x"] + written["width"] <= chips["x"] + chips["width"]
    # At the level just above it, only its curve is painted: it ends there, wherever the word is.
    above = """() => {
      const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
      const stage = root.querySelector(".stage").getBoundingClientRect();
      const chip = root.querySelector(".target .slot.next .chip").getBoundingClientRect();
      const y = Math.round((chip.top - stage.top - 4) * ratio);
      const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
      const opacities = [...data].filter((_, i) => i % 4 === 3);
      const xs = opacities.flatMap((opacity, x) => (opacity ? [x / ratio + stage.left] : []));
      return [Math.min(...xs), (chip.left + chip.right) / 2, Math.max(...xs)];
    }"""
    first, middle, last = bench.page.evaluate(above)
    assert middle - 12 <= first <= last <= middle + 12
    bench.page.evaluate("root.querySelector('.target .chips').scrollLeft -= 40")
    bench.page.wait_for_function(f"({above})()[1] > {middle} + 30 && Math.abs(({above})()[0] - ({above})()[1]) < 12")


def test_curves_start_below_their_words_when_whole_words_give_the_tokens_other_numbers(bench: Bench) -> None:
    trace = planted_trace([*["extra"] * 8, "far", "<eos>"], ["<sos>", "xy", "z"])
    trace = dataclasses.replace(trace, src_words=(*[0] * 8, 1, -1), tgt_words=(-1, 0, 1))
    trace.cross[0, 0] = np.eye(10)[[8, 8, 8]]
    bench.mount(planted_view(trace, step=2, layer=1, head=1, kind="cross"))
    places = []
    for _ in range(2):
        settled(bench)
        painted = bench.page.evaluate(CURVES, 0.05)
        places.append(bench.page.evaluate(MIDDLE, ".source .slot:nth-child(9) .chip"))
        assert sum(painted) / len(painted) == pytest.approx(places[-1], abs=5)
        bench(".words").click()
    assert places[0] - places[1] > 20, "without their numbers, the parts of the word are narrower"


def test_a_weight_widens_no_word(bench: Bench) -> None:
    letters = [*"abcdefgh", "<eos>"]
    bench.mount(planted_view(planted_trace(letters, ["<sos>", *"hgfedcba"]), step=2, layer=1, head=1, kind="cross"))
    places = "[...root.querySelectorAll('.source .chip')].map((chip) => chip.getBoundingClientRect().left)"
    before = bench.page.evaluate(places)
    bench.page.keyboard.press("End")
    settled(bench)
    assert bench.page.evaluate(places) == before
