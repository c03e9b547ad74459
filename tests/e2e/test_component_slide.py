"""The stepper on a wide page and on a slide: words of one line fill it, and every letter can be read."""

import re
from typing import Any

import numpy as np
import pytest

from model.trace import AttentionTrace
from tests.browser import box_of
from tests.e2e.bench import Bench
from tests.e2e.stage import long_trace, settled
from tests.explorer.planted import planted_trace
from tests.some import some

WIDTHS = {1920: 1080, 1366: 768}
LEAST_LETTERS = """() => {
  const small = [], least = 24 * innerWidth / 1920 - 0.5;
  const walker = document.createTreeWalker(root.fullscreenElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest("svg")) continue;
    const size = parseFloat(getComputedStyle(element).fontSize) * element.currentCSSZoom;
    if (size < least) small.push([node.data, size]);
  }
  return small;
}"""
# From now on, the sizes of letters on canvases, in pixels of the screen.
FONTS = """() => {
  window.letters = [];
  window.texts = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { a, b } = this.getTransform();
    const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
    if (root.fullscreenElement) {
      letters.push((size * Math.hypot(a, b)) / devicePixelRatio);
      texts.push({ text, level: Math.abs(b) < 0.01 });
    }
    fill.call(this, text, x, y);
  };
}"""


def put_on_slide(stage: Bench, trace: AttentionTrace, *, width: int = 1920, maps: bool = False, **place: Any) -> None:
    """Show a step on a slide, its stage or its `maps`, and wait until the slide fills the screen and is at rest."""
    stage.page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    stage.mount(trace, width=width - 340, **place)
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement?.matches('.presenting')")
    if maps:
        stage.press("m")
    settled(stage)


@pytest.mark.parametrize(("words", "width"), some([(45, 1366), (2, 1920)], 2))
def test_sentence_and_translation_fill_the_width_whatever_the_number_of_words(
    stage: Bench, width: int, words: int
) -> None:
    stage.page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    stage.mount(long_trace(words), width=width - 340, step=words)
    for presenting in (False, True):
        if presenting:
            stage.press("f")
            stage.page.wait_for_function("() => root.fullscreenElement")
        settled(stage)
        room = box_of(stage(".stepper"))
        for side in ("source", "target"):
            rights = stage(f".{side} .chip").evaluate_all(
                "all => all.map((chip) => chip.getBoundingClientRect().right)"
            )
            listed = box_of(stage(f".{side} .chips"))
            assert max(rights) > listed["x"] + 0.97 * listed["width"], (side, presenting)
        bars = box_of(stage("section.next"))
        ends = stage(".controls > *").evaluate_all("all => all.map((part) => part.getBoundingClientRect().right)")
        assert max(ends) <= bars["x"], "no button lies over the probabilities"
        if presenting:
            below = box_of(stage(".target .chips"))
            assert bars["y"] >= below["y"] + below["height"], "they are below the words, which have the whole width"
        else:
            assert bars["x"] - max(rights) < 0.06 * room["width"], "the probabilities stand beside the words"
        assert bars["x"] + bars["width"] > room["x"] + 0.97 * room["width"]


@pytest.mark.parametrize(("words", "width"), some([(50, 1920), (26, 1366), (10, 1920), (50, 1366)], 2))
def test_a_slide_has_the_word_being_written_its_sentence_and_the_player_however_long_the_sentence(
    stage: Bench, words: int, width: int
) -> None:
    put_on_slide(stage, long_trace(words), width=width, step=words // 2)
    for _ in range(2):
        parts = [box_of(stage(part)) for part in (".slot.next .chip", ".says", ".controls")]
        edges = [edge for part in parts for edge in (part["y"], part["y"] + part["height"])]
        assert edges == sorted(edges), "one below the other"
        assert 0 < edges[0] < edges[-1] <= WIDTHS[width]
        assert (
            stage.page.evaluate("() => { const e = root.fullscreenElement; return e.scrollHeight - e.clientHeight }")
            <= 1
        )
        folded = stage.text(".source .rest")
        assert bool(folded) == (words == 50)
        stage.press("End")
        settled(stage)
    stage.press("m")
    stage.frame()
    cell = stage.page.evaluate(
        """() => {
          const canvas = root.querySelector("figure.cross canvas"), sheet = canvas.parentNode;
          const [, top, , rows] = canvas.dataset.plot.split(",").map(Number), cell = Number(canvas.dataset.tall);
          return [top + (rows - 1) * cell - sheet.scrollTop - top, sheet.clientHeight - top - cell];
        }"""
    )
    assert 0 <= cell[0] <= cell[1], "the map opens at the row in view"


def test_the_curves_of_a_slide_cross_no_word_of_the_translation_however_late_the_step(stage: Bench) -> None:
    put_on_slide(stage, long_trace(50), step=45)
    tops = stage(".target .slot:not(.later)").evaluate_all("all => all.map((slot) => slot.offsetTop)")
    assert len(set(tops)) == 1
    words, chip = box_of(stage(".target .chips")), box_of(stage(".slot.next .chip"))
    assert words["x"] <= chip["x"] < chip["x"] + chip["width"] <= words["x"] + words["width"]
    assert re.fullmatch(r"‹ \d+ earlier", stage.text(".target .rest"))
    assert stage.page.evaluate(LEAST_LETTERS) == []
    stage.press("Home")
    settled(stage)
    assert not stage.text(".target .rest")


def test_on_a_slide_rows_that_are_not_written_yet_take_no_room_from_the_cells(stage: Bench) -> None:
    put_on_slide(stage, long_trace(30), step=2, maps=True)
    assert stage("figure.cross").is_visible()
    cells = []
    for key in ("Home", "ArrowRight", "End"):
        stage.press(key)
        settled(stage)
        canvas = stage("figure.cross canvas")
        plot = str(canvas.get_attribute("data-plot"))
        cells.append((int(plot.split(",")[2]), float(str(canvas.get_attribute("data-tall")))))
        sheet = "root.querySelector('figure.cross .sheet')"
        assert stage.page.evaluate(f"{sheet}.scrollWidth <= {sheet}.clientWidth")
    wide, high = zip(*cells, strict=True)
    assert len(set(wide)) == 1, "the columns have the width of the slide"
    assert high[0] >= high[1] > high[2], "the rows grow while few are written"


def test_the_narrow_cells_of_a_slide_have_level_numbers_and_each_row_its_name(stage: Bench) -> None:
    trace = long_trace(42)
    trace.cross[0, 0] = np.eye(43) * 0.93 + np.eye(43, k=1) * 0.06 + np.eye(43, k=-1) * 0.01
    trace.cross[0, 0, 0, :2] = [0.003, 0.997]
    stage.page.set_viewport_size({"width": 1920, "height": 1080})
    stage.mount(trace, width=1580, step=1, layer=1, head=1)
    stage.page.evaluate(FONTS)
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement?.matches('.presenting')")
    stage.press("m")
    settled(stage)
    for step in (1, 25):
        if step > 1:
            stage.press(*["ArrowRight"] * (step - 2))
            settled(stage)
            stage.page.evaluate("() => { texts = [] }")
            stage.press("ArrowRight")
            settled(stage)
        level = set(stage.page.evaluate("() => texts.filter(({ level }) => level).map(({ text }) => text)"))
        assert {">.99", "not yet written"} <= level
        assert {".93", ".06"} <= level or step == 1
        assert not {".00", ".01"} & level, "the smallest are left out"
        assert stage.text("figure.cross small") == "no number: below 0.05"
        names = ["1 \u2068<sos>\u2069", *(f"{row} \u2068word{row - 2}\u2069" for row in range(2, step + 1))]
        assert set(names) <= level, "every row has its name"


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_the_map_of_a_slide_stands_alone_and_nothing_lies_over_its_title(stage: Bench, kind: str) -> None:
    put_on_slide(stage, long_trace(110), width=1366, maps=True, step=100, kind=kind)
    assert [figure.is_visible() for figure in stage("figure").all()].count(True) == 1
    about, legend = stage(f"figure.{kind} small"), box_of(stage(".legend"))
    assert re.fullmatch(r"\d+ rows above · \d+ columns to the left · \d+ columns? to the right", about.inner_text())
    title = box_of(about)
    assert title["x"] + title["width"] <= legend["x"] or title["y"] >= legend["y"] + legend["height"]
    assert stage(".swatch").is_visible() == (kind == "decoder"), "only where something is masked"
    assert "head" not in stage.text(".says"), "the choice above the map has the name of the head"


def test_the_sentence_that_looks_at_itself_has_the_lines_that_it_needs(stage: Bench) -> None:
    put_on_slide(stage, long_trace(34), width=1366, step=32, kind="decoder")
    assert not stage.text(".target .rest")
    assert re.fullmatch(r"\d+ later ›", stage.text(".source .rest"))
    stage.click(".kinds [value=encoder]")
    settled(stage)
    assert not stage.text(".source .rest")
    assert re.fullmatch(r"‹ \d+ earlier", stage.text(".target .rest"))


def test_a_sentence_of_two_lines_pushes_no_row_of_the_map_off_the_slide(stage: Bench) -> None:
    words = [*"abcdefgh", *(f"{letter * 26}" for letter in "ijkl")]
    put_on_slide(stage, planted_trace(words, ["<sos>", *words]), width=1366, maps=True, step=7)
    heights = []
    for _ in range(5):
        heights.append(box_of(stage(".telling"))["height"])
        sheet = box_of(stage("figure.cross .sheet"))
        assert sheet["y"] + sheet["height"] <= WIDTHS[1366]
        stage.press("ArrowRight")
        settled(stage)
    assert max(heights) > 1.5 * min(heights), "it wraps"


def test_beside_a_map_a_guess_is_typed_and_answered(stage: Bench) -> None:
    put_on_slide(stage, long_trace(9), step=3)
    stage.press("g", "m")
    assert stage.text(".says") == "What comes next? Say it or type it; then see what the model does."
    assert not stage("figure.cross").is_visible()
    stage(".guess input").fill("word2")
    stage.click(".guess button")
    settled(stage)
    assert stage(".guessed").is_visible()
    assert stage.text(".guessed") == "Your guess: word2, as the model."
    assert stage("figure.cross").is_visible()


@pytest.mark.parametrize("words", [8, 11, 15, 20])
def test_the_words_of_a_slide_are_large_and_whole_however_small_they_were_before(stage: Bench, words: int) -> None:
    stage.page.set_viewport_size({"width": 1366, "height": 768})
    stage.mount(long_trace(words), width=1020, step=words - 2)
    settled(stage)
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement?.matches('.presenting')")
    settled(stage)
    over = """() => [...root.querySelectorAll(".slot:not(.later)")].flatMap((slot) => {
      const [chip, list, token] = [slot.firstChild, slot.closest(".chips"), slot.querySelector(".token")];
      const ends = [chip, list, token].map((part) => part.getBoundingClientRect().bottom);
      return ends[2] > Math.min(ends[0], ends[1]) + 1 ? [[token.textContent, ...ends]] : [];
    })"""
    assert stage.page.evaluate(over) == []
    size = stage(".source .token").first.evaluate("(token) => parseFloat(getComputedStyle(token).fontSize)")
    assert size >= 18, "a line of small words breaks into two of large ones"


def test_fourteen_words_fill_a_slide_and_the_translation_is_under_them_unless_it_is_guessed(stage: Bench) -> None:
    stage.page.set_viewport_size({"width": 1920, "height": 1080})
    source = re.findall(r"\S+", "A man in a red shirt is riding a bicycle to town . <eos>")
    target = re.findall(r"\S+", "<sos> Ein Mann im roten Hemd fährt mit dem Rad in die Stadt .")
    stage.mount(planted_trace(source, target), step=3, width=1580)
    assert not stage(".whole").is_visible(), "the page has it above the view"
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement")
    settled(stage)
    for side, lines in (("source", 2), ("target", 1)):
        tops = stage(f".{side} .slot").evaluate_all("all => all.map((slot) => slot.offsetTop)")
        assert len(tops) >= 14
        assert len(set(tops)) == lines, side
    assert stage.text(".whole") == "Translation: Ein Mann im roten Hemd fährt mit dem Rad in die Stadt."
    assert stage(".whole").is_visible()
    assert stage(".option").count() == 5
    assert stage.text(".others") == "all others 3.1 %", "1 − (1/2 + 1/4 + … + 1/32)"
    stage.press("g")
    assert not stage(".whole").is_visible()


def test_words_that_are_scrolled_below_a_resting_pointer_are_not_pointed_at(stage: Bench) -> None:
    stage.page.set_viewport_size({"width": 1366, "height": 768})
    stage.mount(long_trace(50), width=1020, step=20)
    settled(stage)
    says = stage.text(".says")
    chips = box_of(stage(".target .chips"))
    stage.page.mouse.move(chips["x"] + 60, chips["y"] + chips["height"] / 2)
    pointed = stage.text(".says")
    assert pointed != says
    stage.press("End", "Home", "ArrowRight")
    settled(stage)
    assert stage.text(".says").startswith(f"To write {stage.text('.slot.next .token')}, ")


def test_on_a_projector_every_letter_can_be_read_from_the_last_row_and_a_key_leads_to_the_maps(stage: Bench) -> None:
    stage.page.set_viewport_size({"width": 1920, "height": 1080})
    stage.mount(long_trace(9), width=1580, step=4)
    stage.page.evaluate(FONTS)
    stage.press("f")
    stage.page.wait_for_function("() => root.fullscreenElement")
    stage.frame()
    assert stage.page.evaluate(LEAST_LETTERS) == []
    assert stage(".stage").is_visible()
    assert not stage(".maps").is_visible()
    stage.press("m")
    assert stage("figure.cross").is_visible()
    assert not stage(".stage").is_visible()
    assert stage.page.evaluate(LEAST_LETTERS) == []
    written = stage.page.evaluate("() => window.letters")
    assert written
    assert min(written) >= 23.5
    stage.press("m")
    assert stage(".stage").is_visible()
