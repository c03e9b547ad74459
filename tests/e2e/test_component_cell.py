"""One cell in a real browser: a row for each key, its numbers on demand, by mouse and keyboard."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from explorer.browser import wire
from tests.browser import box_of
from tests.e2e.bench import NASTY, Bench, pixels
from tests.e2e.test_accessibility import findings
from tests.some import some

SIZE = 8
HEADER = {
    "part": "cell",
    "seq": "s",
    "kind": "cross",
    "layer": 1,
    "head": 2,
    "row": 2,
    "column": 3,
    "query": "je",
    "predicted": "lis",
    "scaled": True,
    "gated": False,
}
TOKENS = ["i", "read", "red", "books", "<eos>"]


def planted(
    tokens: list[str] = TOKENS, *, exists: int = 0, mask: tuple[int, ...] = (), winner: int = 1, **changes: Any
) -> bytes:
    """A row in which one key wins by 4, of which dimension 3 brings 3 and dimension 5 brings 1."""
    n = exists or len(tokens)
    query = np.ones(SIZE, dtype=np.float32)
    keys = np.zeros((n, SIZE), dtype=np.float32)
    keys[:, 0] = -1
    keys[winner, [2, 4]] = 3 * np.sqrt(SIZE), np.sqrt(SIZE)
    values = np.arange(n * SIZE, dtype=np.float32).reshape(n, SIZE) / 10
    scores = keys @ query / np.sqrt(SIZE)
    codes = np.zeros(n, dtype=np.uint8)
    codes[list(mask)] = 2
    raised = np.where(codes, 0, np.exp(scores - scores[codes == 0].max()))
    weights = (raised / raised.sum()).astype(np.float32)
    arrays = {"query": query, "keys": keys, "values": values, "scores": scores.astype(np.float32)}
    arrays |= {"weights": weights, "mask": codes, "output": weights @ values}
    return wire.write(HEADER | {"tokens": tokens} | changes, arrays)


@pytest.fixture
def shown(cell: Bench) -> Bench:
    cell.prepare()
    cell.show(planted())
    return cell


def strip(cell: Bench, key: int, dimension: int, *, y: float = 11) -> tuple[int, ...]:
    """The colour of a product, at a height from the top of its strip."""
    canvas = cell(f".key:nth-child({key}) canvas").first
    width = float(canvas.evaluate("(c) => parseFloat(c.style.width)"))
    return pixels(canvas, [{"x": (dimension - 0.5) * width / SIZE, "y": y}])[0]


def click_product(cell: Bench, key: int, dimension: int) -> None:
    canvas = cell(f".key:nth-child({key}) canvas").first
    canvas.click(position={"x": (dimension - 0.5) * box_of(canvas)["width"] / SIZE, "y": 10})
    cell.frame()


def test_it_says_how_the_winner_wins(shown: Bench) -> None:
    assert shown.text(".title") == "Cross-attention, layer 1, head 2: reads 2 je → predicts lis"
    assert shown.text(".wins").startswith("2 read is heaviest, with 0.932: its score leads that of 1 i, one of 4")
    assert shown.text(".wins").endswith("products of the first key minus those of the second, ÷ √8.")
    assert shown(".heads > :nth-child(2) .ticks b").all_inner_texts() == ["3", "5"]
    assert shown(".key").count() == len(TOKENS)
    assert shown.text(".key:nth-child(2)").split() == ["2", "read", "10.314", "3.646", "0.932"]
    assert "chosen" in str(shown(".key:nth-child(3)").get_attribute("class")), "the key that the message names"


def test_the_sign_of_a_product_shows_in_its_place_and_its_colour(shown: Bench) -> None:
    largest, negative, zero = (strip(shown, *at) for at in ((2, 3), (2, 1), (2, 2)))
    assert largest[0] > largest[2] + 80, "orange"
    assert negative[2] > negative[0], "blue"
    assert max(zero[:3]) - min(zero[:3]) < 12
    assert strip(shown, 2, 3, y=2)[3] == 255
    assert strip(shown, 2, 3, y=20)[3] == 0, "above zero is raised"
    assert strip(shown, 2, 1, y=2)[3] == 0, "below zero is lowered"
    assert strip(shown, 2, 1, y=20)[3] == 255


def test_a_click_on_a_product_gives_its_numbers_and_another_the_sum(shown: Bench) -> None:
    assert "the products of all 8 dimensions sum to −1.0000 score" in shown.text(".chain")
    click_product(shown, 2, 3)
    chain = shown.text(".chain")
    assert "query · key 2 read: dimension 3: 1.0000 × 8.4853 = 8.4853" in chain
    assert "score 10.3137 ÷ √8 = 10.3137 ÷ 2.8284 = 3.646" in chain
    assert "e^(3.646 − 3.646) = 1.0000" in chain
    assert " For " in chain, "the second key's power shows something"
    assert "Divided by the sum over 5 visible keys, 1.0732: 0.932" in chain
    assert "weight × value dimension 3: 0.932 × 1.0000 = 0.9320" in chain
    assert "output dimension 3: 0.932 × 1.0000 (2 read) + 0.017 × 3.4000 (5 <eos>)" in chain
    click_product(shown, 2, 3)
    assert "dimension 3" not in shown.text(".chain")


def test_arrow_keys_move_between_keys_and_dimensions_and_the_key_is_reported(shown: Bench) -> None:
    shown(".rows").focus()
    shown.press("ArrowUp", "ArrowRight", "ArrowRight", "ArrowRight")
    assert "query · key 2 read: dimension 3: 1.0000 × 8.4853" in shown.text(".chain")
    label = "Key 2 of 5, read, dimension 3 of 8."
    assert str(shown(".rows").get_attribute("aria-label")).startswith(label)
    shown.press("Enter")
    assert "dimension" not in str(shown(".rows").get_attribute("aria-label")).partition(".")[0]
    shown.press("Enter")
    assert "dimension 3: 1.0000" in shown.text(".chain"), "the largest product"
    shown.press("End", "ArrowDown")
    assert "query · key 5 <eos>" in shown.text(".chain")
    shown.page.wait_for_timeout(400)
    place = {"seq": "s", "kind": "cross", "layer": 1, "head": 2, "row": 2}
    # On a slow machine, a pause between two keys is long enough for a report of its own.
    assert shown.page.evaluate("() => calls.at(-1)") == {"name": "at", "value": place | {"column": 5}}


def test_the_answer_to_a_report_moves_nothing_and_another_place_does(shown: Bench) -> None:
    shown(".rows").focus()
    shown.press("ArrowDown")
    shown.page.wait_for_timeout(400)
    shown.press("ArrowDown")
    shown.show(planted(column=4))  # answers the first move, after the second
    assert "query · key 5 <eos>" in shown.text(".chain")
    shown.show(planted(column=1))
    assert "query · key 1 i" in shown.text(".chain")
    shown.show(planted(column=2, row=3, query="lis"))
    assert "query · key 2 read" in shown.text(".chain")
    assert "reads 3 lis" in shown.text(".title")


def test_masked_keys_and_those_that_did_not_exist_are_hatched_and_said(cell: Bench) -> None:
    cell.prepare()
    cell.show(planted(["<sos>", "je", "lis", "livres", "rouges"], exists=3, mask=(0,), kind="decoder", row=3, column=1))
    assert cell.text(".key:nth-child(1) .share") == "masked"
    assert "repeating-linear-gradient" in cell(".key:nth-child(1) .share").evaluate(
        "(e) => getComputedStyle(e).background"
    )
    assert cell.text(".future") == "4–5 masked (future): 2 later positions not read yet"
    assert "masked (padding): filler, not a word; whatever the score, the weight is exactly 0" in cell.text(".chain")
    cell.show(planted(column=1))
    assert not cell(".future").is_visible()
    assert cell.text(".key:nth-child(1) .share") == "0.017", "what was masked in another row is not here"


def test_the_table_and_the_file_have_the_numbers_on_screen(shown: Bench) -> None:
    assert shown("tbody tr").count() == 0, "closed by default"
    shown.click("summary")
    shown("tbody tr").first.wait_for()
    header = "key query · key score (÷ √8) e^(score − highest) weight"
    assert shown.text("thead").split() == header.split()
    assert shown.text("tbody tr:nth-child(2)").split() == ["2", "read", "10.3137", "3.646", "1.0000", "0.932"]
    shown.page.evaluate(
        """() => {
          const value = { writeText: async (text) => { window.copied = text; } };
          Object.defineProperty(navigator, "clipboard", { value });
        }"""
    )
    shown.click("button.copy")
    expect(shown("details output")).to_have_text("Copied.")
    assert len(shown.page.evaluate("() => copied").splitlines()) == 2 + len(TOKENS)


@pytest.mark.parametrize("width", [1000, 358])
def test_all_keys_of_an_ordinary_sentence_are_in_the_list_without_scrolling(cell: Bench, width: int) -> None:
    cell.prepare(width=width)
    cell.show(planted([f"token{i}" for i in range(11)]))
    assert cell(".rows").evaluate("(e) => e.scrollHeight <= e.clientHeight")
    cell.show(planted([f"token{i}" for i in range(40)]))
    assert cell(".rows").evaluate("(e) => e.scrollHeight > e.clientHeight"), "longer ones scroll"


@pytest.mark.parametrize(("width", "dark"), some([(358, True), (1000, False)], 2))
def test_a_hundred_strange_keys_scroll_with_their_labels(cell: Bench, width: int, dark: bool) -> None:
    tokens = (NASTY * 10)[:100]
    cell.prepare(dark=dark, width=width)
    cell.show(planted(tokens, winner=49, column=50))
    rows = cell(".rows")
    assert rows.evaluate("(e) => e.scrollHeight > e.clientHeight && e.scrollWidth <= e.clientWidth")
    chosen, list_box = box_of(cell(".chosen")), box_of(rows)
    assert list_box["y"] < chosen["y"] < list_box["y"] + list_box["height"] - 20, "the chosen key is in view"
    rows.focus()
    cell.press("End")
    list_box = box_of(rows)  # the page scrolls to what has the focus
    heads, sums, last = (box_of(cell(part)) for part in (".heads", ".sums", ".key:last-child"))
    assert abs(heads["y"] - list_box["y"]) < 3, "the names of the columns stay"
    assert heads["y"] + heads["height"] <= last["y"] + 1 <= sums["y"] - last["height"] + 2
    assert cell.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert cell("img, script").count() == 0


@pytest.mark.parametrize("dark", some([True, False], 2))
def test_it_is_legible_and_named_for_a_screen_reader(cell: Bench, dark: bool) -> None:
    cell.prepare(dark=dark)
    cell.show(planted(["<sos>", "je", "lis", "livres", "rouges"], exists=4, mask=(0,), kind="decoder", row=4))
    cell.click("summary")
    rules = ("color-contrast", "button-name", "scrollable-region-focusable", "aria-allowed-attr", "aria-allowed-role")
    assert findings(cell.page, *rules) == set()
