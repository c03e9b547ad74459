"""The maps of Masks in a real browser."""

import re

from playwright.sync_api import Locator

from tests.browser import box_of
from tests.e2e.address import Visit

_PIXEL = """(canvas, [row, column, across, down]) => {
  const [left, top, cell] = canvas.dataset.plot.split(",").map(Number);
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const at = [left + (column + across) * cell, top + (row + down) * cell].map((place) => Math.round(place * scale));
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
}"""

_WRITE = """() => {
  window.texts = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    texts.push(text);
    fill.call(this, text, ...at);
  };
}"""


def colour(canvas: Locator, row: int, column: int, across: float, down: float) -> list[int]:
    return list(canvas.evaluate(_PIXEL, [row, column, across, down]))


def test_scores_that_a_mask_closes_have_hatched_edges(visit: Visit) -> None:
    page = visit("/masks?model=adjective-swap&text=I+read+red+books")
    scores, weights = page.locator(".labelled canvas").all()
    for row, column, closed in ((0, 1, True), (1, 2, True), (1, 0, False), (2, 1, False)):
        edges = [colour(scores, row, column, 0.1, down / 20) for down in range(3, 8)]
        inside = colour(scores, row, column, 0.2, 0.2)
        assert all(edge == inside for edge in edges) != closed
        alike = colour(weights, row, column, 0.2, 0.2)
        assert inside != alike, "the score is shown, closed or not"
    page.get_by_text("Causal mask", exact=True).click()
    page.get_by_text("Padding mask", exact=True).click()
    page.get_by_text("No cell is closed").wait_for()
    edges = [colour(scores, 0, 1, 0.1, down / 20) for down in range(3, 8)]
    assert edges == [colour(scores, 0, 1, 0.2, 0.2)] * 5


def test_every_score_of_a_long_sentence_has_a_number_and_the_map_is_on_the_first_screen(visit: Visit) -> None:
    page = visit("/masks?model=multi30k-en-de&text=A+young+woman+is+reading+a+newspaper+on+a+bench.")
    page.set_viewport_size({"width": 1366, "height": 768})
    scores = page.locator(".labelled canvas").first
    assert box_of(scores)["y"] + box_of(scores)["height"] < 768
    page.evaluate(_WRITE)
    scores.click(position={"x": 1, "y": 1})  # draws it again
    written = page.evaluate("texts")
    numbers = [text for text in written if re.fullmatch(r"-?\d?\.\d", text)]
    assert len(numbers) == 11 * 11, "also when it is drawn again"
    assert ".0" in numbers, "what rounds to 0 is not written as 0"
