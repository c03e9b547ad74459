"""The Attention page in a real browser: from all heads to one cell, its numbers, and reopening it from a link."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translator
from explorer.locale.text import three_decimals
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.trace import AttentionTrace
from tests.browser import box_of, click_cell
from tests.e2e.address import TEXT, Visit, query, wait_for
from tests.paths import CHECKPOINTS

ADDRESS = f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}"


def drawn(page: Page, kinds: str = "cross") -> None:
    expect(page.locator(".explorer")).to_have_attribute("data-drawn", re.compile(rf" {re.escape(kinds)}$"))


def test_grid_to_head_to_cell_to_its_numbers_by_keyboard_and_the_link_reopens_it(
    visit: Visit, trace: AttentionTrace
) -> None:
    page = visit(f"{ADDRESS}&kind=encoder")
    drawn(page, "encoder")
    page.get_by_role("button", name=re.compile("^Layer 1, head 1:")).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("figure.encoder small")).to_contain_text("layer 2 · head 2")
    page.locator("figure.encoder canvas").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weight = f"{trace.encoder[1, 1, 2, 1]:.3f}"
    expect(page.locator(".cell")).to_contain_text(weight)
    why = page.get_by_role("button", name="Where does this number come from?")
    for _ in range(2):  # the term in the map's title explains itself to the keyboard, too
        page.keyboard.press("Shift+Tab")
    expect(why).to_be_focused()
    page.keyboard.press("Enter")
    wait_for(page, kind="encoder", layer="2", head="2", view="head", cell="3-2", panel="cell")
    expect(page.get_by_text("Where does this weight come from?")).to_be_in_viewport()
    row = page.get_by_role("application", name=re.compile("Arrow keys move between cells")).last
    expect(row).to_be_in_viewport()  # the row of the map, whose own place is above the edge
    expect(page.locator(".arrival:focus")).to_have_attribute("aria-label", "One cell")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.evaluate("() => navigator.clipboard.readText()"))
    drawn(other, "encoder")
    for part in (".cell", ".caption", "figure.encoder figcaption"):
        expect(other.locator(part)).to_have_text(page.locator(part).inner_text(), use_inner_text=True)
    assert query(other) == query(page)


def test_a_long_sentence_has_all_its_cells_in_sight_and_nothing_moves_under_the_pointer(visit: Visit) -> None:
    text = (
        "A man in a blue shirt and a woman with a red hat are sitting on a bench in front of an old house and reading."
    )
    page = visit(f"/attention?model=multi30k-en-de&text={text.replace(' ', '+')}")
    drawn(page)
    canvas, title, lead = (page.locator(name) for name in ("figure.cross canvas", "figure.cross figcaption", ".lead"))
    below = page.locator("figure.cross .below")
    expect(canvas).to_be_in_viewport(ratio=1)
    left, top, cell, rows, keys = (float(part) for part in str(canvas.get_attribute("data-plot")).split(","))
    assert (rows, keys) == (25, 28)
    assert cell >= 13
    whole = "(box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight"
    assert page.locator("figure.cross .scroll").evaluate(whole)
    expect(below).to_have_text("numbers: marked rows, from 0.05 where they fit")
    high = """(lead) => {
      const text = document.createRange();
      text.selectNodeContents(lead);
      return text.getBoundingClientRect().height;
    }"""
    tops, lines = set(), set()
    for row in range(25):
        canvas.hover(position={"x": left + 2.5 * cell, "y": top + (row + 0.5) * cell})
        expect(lead).to_contain_text(f"having read {row + 1}\u2009")
        tops.add(box_of(title)["y"])
        lines.add(lead.evaluate(high) > 30)
    assert lines == {False, True}, "some sentences take one line, some two"
    page.mouse.move(700, 5)
    for key in ("Home", "ArrowRight", "h", "h", "h", "h", "l", "l", "l"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        tops.add(box_of(title)["y"])
    assert len(tops) == 1
    top, pictures = box_of(canvas)["y"], box_of(page.locator(".grids"))
    for key in ("0", "+", "+"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
    expect(below).to_contain_text("rows below")
    assert (box_of(title)["y"], box_of(canvas)["y"]) == (*tops, top)
    assert box_of(page.locator(".grids")) == pictures


def test_the_first_redrawing_of_a_short_sentence_moves_nothing(visit: Visit) -> None:
    page = visit("/attention?model=multi30k-en-de&text=A+man+sleeps.")
    drawn(page)
    parts = [
        page.locator(name) for name in (".lead", ".grids", "figure.cross canvas", ".under-views details", ".steps")
    ]
    before = [box_of(part) for part in parts]
    parts[2].hover(position={"x": 200, "y": 200})
    expect(page.locator(".walk output")).to_contain_text("row")
    assert [box_of(part) for part in parts] == before


def test_another_way_to_compare_scrolls_to_what_it_shows(visit: Visit) -> None:
    page = visit(f"{ADDRESS}&panel=compare")
    expect(page.locator(".labelled canvas")).to_have_count(1)
    page.wait_for_timeout(3000)  # until the page has arrived by its link
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
    page.get_by_role("radio", name="another sentence").click()
    expect(page.locator(".labelled canvas")).to_have_count(3)
    expect(page.locator(".labelled canvas").last).to_be_in_viewport(ratio=1)


def test_in_one_cell_the_weight_in_each_head_leads_to_that_head(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"{ADDRESS}&layer=2&head=0&cell=3-4&panel=cell")
    buttons, strip = page.locator(".onecell .each button"), page.locator(".onecell .strip canvas")
    weights = trace.cross[1, :, 2, 3]
    expect(buttons).to_have_text([f"H{i + 1} {three_decimals(float(weight))}" for i, weight in enumerate(weights)])
    expect(page.locator(".onecell .mean")).to_have_text(f"In each head (mean {three_decimals(float(weights.mean()))}):")
    for head in (2, 1, 2):
        buttons.nth(head - 1).click()
        wait_for(page, layer="2", head=str(head), cell="3-4")
        expect(buttons.nth(head - 1)).to_have_attribute("aria-pressed", "true")
        expect(strip).to_have_attribute("aria-label", re.compile(f"layer 2, head {head}"))
        expect(strip).to_be_in_viewport(ratio=1)
    page.locator('.tile[value="cross 2 0"]').click()
    wait_for(page, layer="2", cell="3-4")
    note = "The map above is the mean of 4 heads. A mean has no queries and keys: all numbers below are of head "
    expect(page.locator(".onecell .not-mean")).to_contain_text(note)
    best = int(weights.argmax()) + 1
    expect(page.locator(".onecell .not-mean")).to_contain_text(f"head {best}, which gives 4\u2009")
    expect(page.locator(".onecell .title")).to_contain_text(f"layer 2, head {best}")
    buttons.nth(1).click()  # the same as before the mean
    wait_for(page, layer="2", head="2", cell="3-4")
    expect(page.locator(".onecell .not-mean")).to_be_hidden()
    expect(page.locator(".onecell .said")).to_have_text("")
    click_cell(strip, 0, 0)
    wait_for(page, layer="2", head="2", cell="3-1")


def test_a_b_and_their_difference_stand_in_one_row_with_cells_of_one_size(visit: Visit) -> None:
    page = visit(f"{ADDRESS}&panel=compare.way-text")
    maps = page.locator(".labelled canvas")
    expect(maps).to_have_count(3)
    for each in maps.all():
        expect(each).to_have_attribute("data-plot", re.compile(r"\d"))
        expect(each).to_be_in_viewport(ratio=1)
    assert len({str(each.get_attribute("data-plot")).split(",", 1)[1] for each in maps.all()}) == 1
    assert len({box_of(each)["y"] for each in maps.all()}) == 1, "the rows of all three are in line"


def test_the_framed_cell_is_in_sight_on_arrival_and_named_in_the_difference(visit: Visit) -> None:
    """Also in a row of a long map, which scrolls inside; the page stays where it is."""
    text = "A+young+girl+in+a+red+coat+is+feeding+the+birds+in+a+park+while+her+mother+is+reading+a+{}+on+a+bench."
    address = "/attention?model=multi30k-en-de&layer=4&panel=compare.way-text"
    page = visit(f"{address}&text={text.format('newspaper')}&other={text.format('big+blue+newspaper')}")
    maps = page.locator(".labelled canvas")
    expect(maps).to_have_count(3)
    tall = int(page.evaluate("innerHeight"))
    for each in maps.all():
        expect(each).to_have_attribute("data-plot", re.compile(r"\d"))
    assert maps.first.get_attribute("data-tall") == maps.last.get_attribute("data-tall"), "the rows are as high"
    maps = maps.nth(1)
    box, top = maps.locator("xpath=.."), float(str(maps.get_attribute("data-plot")).split(",")[1])
    row = float(str(maps.get_attribute("data-tall")))
    assert box_of(box)["height"] <= tall - 370
    assert box.evaluate("box => box.scrollHeight > box.clientHeight")
    above = box.evaluate("box => box.scrollTop") / row
    assert 0 < above == round(above), "whole rows"
    high = box.evaluate("box => box.clientHeight") - top
    assert high % row == pytest.approx(4)
    box.evaluate("box => box.scrollTo(0, 0)")
    expect(page.locator(".labelled .marks").nth(1)).to_contain_text(f"↓ {29 - high // row:.0f} rows below")
    page = visit("/attention?model=adjective-swap&panel=compare.way-text&text=I+read+red+books&other=I+read+blue+books")
    minus = page.locator(".labelled canvas").nth(2)
    expect(minus).to_have_attribute("data-plot", re.compile(r"\d"))
    assert all(box.evaluate("box => box.scrollTop") == 0 for box in page.locator(".labelled .box").all())


def test_the_maps_of_two_long_sentences_have_high_rows_with_numbers(visit: Visit) -> None:
    words = "A+boy+in+a+{}+is+throwing+a+ball+to+a+dog."
    address = "/attention?model=multi30k-en-de&layer=4&panel=compare.way-text"
    page = visit(f"{address}&text={words.format('blue+shirt')}&other={words.format('red+dress')}")
    maps, feet = page.locator(".labelled canvas"), page.locator(".labelled .foot")
    expect(maps).to_have_count(3)
    for each in maps.all():
        expect(each).to_have_attribute("data-tall", "18")
    for foot, said in zip(feet.all(), ("below 0.05", "below 0.05", "less than 0.05 from 0"), strict=True):
        expect(foot).to_contain_text(f"no number: {said}")


def translated(text: str) -> NDArray[np.float32]:
    """The mean of the heads of the last layer's cross-attention in a translation."""
    translation = Translator(load_model(CHECKPOINTS / "multi30k-en-de")).translate(text, DecodeConfig())
    mean: NDArray[np.float32] = translation.trace.cross[3].mean(axis=0)
    return mean


def test_a_cell_chosen_in_one_map_is_chosen_in_those_beside_it(visit: Visit) -> None:
    pair = "text=The+dog+runs+through+the+snow.&other=The+{}+runs+through+the+snow."
    address = "/attention?model=multi30k-en-de&layer=4&panel=compare.way-text&"
    page = visit(address + pair.format("cat"))
    maps, said = page.locator(".labelled canvas"), page.locator(".labelled output")
    expect(maps).to_have_count(3)
    expect(maps.last).to_have_attribute("data-plot", re.compile(r"\d"))
    weights = [translated(f"The {word} runs through the snow.")[1, 1] for word in ("dog", "cat")]
    change = weights[1] - weights[0]
    numbers = f"A {weights[0]:.3f}, B {weights[1]:.3f}, B − A +{change:.3f}"
    before = [each.evaluate("map => map.toDataURL()") for each in maps.all()]
    click_cell(maps.nth(2), 1, 1)
    expect(said.nth(2)).to_have_text(f"“≠ 2 Der / Die → ≠ Hund / Katze”, “≠ 2 dog / cat”: {numbers}")
    expect(said.first).to_have_text("")
    assert all(each.evaluate("map => map.toDataURL()") != old for each, old in zip(maps.all(), before, strict=True)), (
        "all are marked"
    )
    click_cell(maps.first, 1, 1)
    expect(said.first).to_contain_text(numbers)
    expect(said.nth(2)).to_have_text("")
    page = visit(address + pair.format("unicyclist"))
    expect(maps).to_have_count(3)
    expect(maps.last).to_have_attribute("data-plot", re.compile(r"\d"))
    both = translated("The unicyclist runs through the snow.")[0, 1:4].sum()
    click_cell(maps.first, 0, 1)
    expect(said.first).to_contain_text(f", B {both:.3f} together")
    click_cell(maps.nth(1), 0, 3)
    expect(said.nth(1)).to_contain_text(f", B {both:.3f} together")
    click_cell(maps.last, 0, 1)
    expect(said.last).to_contain_text(f", B {both:.3f} together, B − A +")
    click_cell(maps.first, 1, 1)
    expect(said.first).to_have_text(re.compile(r": A 0\.\d+$"))  # the row that writes "Hund" has no counterpart
    said_first = f"To write “Der”, B looks more at “unicyclist” ({both:.2f} together) than A at “dog”"
    expect(page.get_by_text(said_first)).to_be_visible()


def test_a_full_stop_that_one_sentence_lacks_is_marked_and_named_and_all_rows_are_in_sight(visit: Visit) -> None:
    """It has grey ground as well, since bold is hardly to be seen; no sign of Markdown is left."""
    pair = "text=The+dog+runs+through+the+snow.&other=The+dog+runs+through+the+snow"
    page = visit(f"/attention?model=multi30k-en-de&layer=4&panel=compare.way-text&{pair}")
    expect(page.get_by_text("A: The dog runs through the snow. →")).to_be_visible()
    expect(page.get_by_text("**")).to_have_count(0)
    expect(page.get_by_text("gray-background")).to_have_count(0)
    stop = page.get_by_text("A: The dog runs through").locator("strong")
    expect(stop).to_have_text(["."])
    assert stop.locator("xpath=..").evaluate("each => getComputedStyle(each).backgroundColor") != "rgba(0, 0, 0, 0)"
    weight = translated("The dog runs through the snow.")[6, 6]
    expect(page.get_by_text(f"another {weight:.2f} goes to “.”, which B does not have")).to_be_visible()
    expect(
        page.get_by_text("No single counterpart, so neither compared nor in B − A: the column “.” of A.")
    ).to_have_count(1)
    maps, boxes = page.locator(".labelled canvas"), page.locator(".labelled .box")
    expect(maps).to_have_count(3)
    page.set_viewport_size({"width": 1366, "height": 768})
    for each in maps.all():
        expect(each).to_have_attribute("data-plot", re.compile(r"\d"))
        assert int(str(each.get_attribute("data-plot")).split(",")[2]) >= 24
    assert all(box.evaluate("box => box.scrollHeight <= box.clientHeight") for box in boxes.all()), "none is cut"
    assert len({box_of(foot)["height"] for foot in page.locator(".labelled .foot").all()}) == 1, "legends end in line"


def test_maps_in_a_row_scroll_together(visit: Visit) -> None:
    text = "A+young+girl+in+a+red+coat+is+feeding+the+birds+in+a+park+while+her+mother+is+reading+a+{}+on+a+bench."
    address = "/attention?model=multi30k-en-de&layer=4&panel=compare.way-text"
    text = f"{text.removesuffix('.')}+in+front+of+a+house+with+a+red+door."
    page = visit(f"{address}&text={text.format('newspaper')}&other={text.format('book')}")
    maps, boxes = page.locator(".labelled canvas"), page.locator(".labelled .box")
    expect(maps).to_have_count(3)
    for each in maps.all():
        expect(each).to_have_attribute("data-plot", re.compile(r"\d"))
    for top in (0, 9999):
        boxes.first.evaluate("(box, top) => box.scrollTo(0, top)", top)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        both = [boxes.nth(i).evaluate("box => box.scrollTop") for i in (0, 1)]
        assert both[0] == both[1], "A and B have as many rows"
        assert (both[0] > 0) == (top > 0)


def test_another_key_in_one_cell_is_the_chosen_cell_of_the_whole_page(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"{ADDRESS}&view=head&layer=2&head=3&cell=3-4&panel=cell")
    drawn(page)
    rows = page.locator(".onecell .rows")
    expect(page.locator(".onecell .chosen")).to_contain_text("books")
    expect(page.get_by_text("as key and").first).to_contain_text("“books”")
    rows.focus()
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    wait_for(page, cell="3-2", step="3")
    expect(page.locator(".onecell .chosen")).to_contain_text("read")
    assert 0 < trace.cross[1, 2, 2, 1] < 0.0005
    expect(page.locator(".cell")).to_contain_text("weight< 0.001")
    expect(page.get_by_text("as key and").first).to_contain_text("“read”")
    expect(rows).to_be_focused()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(".onecell .chain")).to_contain_text("dimension 2:")
    expect(page.locator(".walk output")).to_contain_text("3 of")
    wait_for(page, cell="3-2", step="3")
    click_cell(page.locator("figure.cross canvas"), 2, 0)
    wait_for(page, cell="3-1")
    expect(page.locator(".onecell .chosen")).to_contain_text("i")
