"""The maps of Masks in a real browser."""

import re

import pytest
from playwright.sync_api import Locator, expect

from explorer.screens.masks.readings import MOST_COLUMNS
from tests.browser import box_of, click_cell, settle
from tests.e2e.address import Visit

_PIXEL = """(canvas, [row, column, across, down]) => {
  const [left, top, cell] = canvas.dataset.plot.split(",").map(Number);
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const at = [left + (column + across) * cell, top + (row + down) * cell].map((place) => Math.round(place * scale));
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
}"""

# The texts that a map writes as it is drawn again.
_REDRAW = """canvas => {
  const texts = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text) {
    if (this.canvas === canvas) texts.push(text);
  };
  canvas.dispatchEvent(new MouseEvent("click", { clientX: -1, clientY: -1 }));
  CanvasRenderingContext2D.prototype.fillText = fill;
  return texts;
}"""


def colour(canvas: Locator, row: int, column: int, across: float, down: float) -> list[int]:
    return list(canvas.evaluate(_PIXEL, [row, column, across, down]))


def test_scores_that_a_mask_closes_have_hatched_edges(visit: Visit) -> None:
    page = visit("/masks?model=adjective-swap&text=I+read+red+books")
    canvases = page.locator(".labelled canvas")
    expect(canvases).to_have_count(2)
    scores, weights = canvases.all()
    for row, column, closed in ((0, 1, True), (1, 2, True), (1, 0, False), (2, 1, False)):
        edges = [colour(scores, row, column, 0.06, down / 20) for down in range(3, 8)]
        inside = colour(scores, row, column, 0.2, 0.2)
        assert all(edge == inside for edge in edges) != closed
        alike = colour(weights, row, column, 0.2, 0.2)
        assert inside != alike, "the score is shown, closed or not"
    between = [colour(scores, row, column, 0, 0.5) for row, column in ((1, 2), (2, 3), (1, 1), (1, 3))]
    assert between[0] == between[1], "a line divides what stays open from what is closed"
    assert between[0] not in between[2:]
    page.get_by_text("Causal mask", exact=True).click()
    page.get_by_text("Padding mask", exact=True).click()
    page.get_by_text("cells are open.").wait_for()
    edges = [colour(scores, 0, 1, 0.06, down / 20) for down in range(3, 8)]
    assert edges == [colour(scores, 0, 1, 0.2, 0.2)] * 5


def test_of_a_chosen_cell_one_map_says_its_score_and_the_other_its_weight(
    visit: Visit,
) -> None:
    page = visit("/masks?model=adjective-swap&text=I+read+red+books")
    scores, weights = (page.locator(".labelled canvas").nth(at) for at in (0, 1))
    said = page.locator(".labelled output")
    click_cell(weights, 2, 1)
    largest = r"weight 0\.\d{3}; largest in its row: (0\.\d{3}) \(“(.+)”\)$"
    expect(said).to_have_text([re.compile(r": score −?\d\.\d{3}$"), re.compile(largest)])
    most = re.search(largest, str(said.nth(1).text_content()))
    assert most
    click_cell(weights, 2, int(most[2].split()[0]) - 1)
    expect(said.nth(1)).to_have_text(re.compile(rf"“{re.escape(most[2])}”: weight {most[1]}, the largest in its row$"))
    click_cell(scores, 1, 2)
    closed = r": score −?\d\.\d{3}, closed by the causal mask$"
    expect(said).to_have_text([re.compile(closed), re.compile(r": weight 0; largest in its row: 0\.\d{3} ")])
    click_cell(scores, -1, 2)
    expect(said).to_have_text([re.compile("^Query · key"), re.compile("^Closed cells")])


def test_a_long_sentence_of_the_visitor_is_shown_with_padding_and_numbers(visit: Visit) -> None:
    text = "Two+children+are+playing+football+on+the+grass+near+a+house."
    page = visit(f"/masks?model=multi30k-en-de&text={text}")
    page.set_viewport_size({"width": 1366, "height": 768})
    for address, tokens in ((page.url, 15), (f"{page.url}&masks_batch=this+sentence", 14)):
        page.goto(address)
        settle(page)
        canvases = page.locator(".labelled canvas")
        expect(canvases).to_have_count(2)
        for canvas in canvases.all():
            assert box_of(canvas)["y"] + box_of(canvas)["height"] < 768
        written = page.locator(".labelled canvas").first.evaluate(_REDRAW)
        named = {word: sum(word in text for text in written) for word in ("Zwei", "<pad>")}
        assert named == {"Zwei": 2, "<pad>": 2 * (tokens - 14)}, "as a row and as a column"
        numbers = [text for text in written if re.fullmatch(r"−?\d?\.\d", text)]
        assert len(numbers) == tokens**2, "also when it is drawn again"
        assert ".0" in numbers, "what rounds to 0 is not written as 0"
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(page.locator(".labelled canvas").first).to_have_attribute("data-plot", re.compile(r"^[\d.]+,[\d.]+,[34]\d,"))
    assert page.locator(".labelled .box").first.evaluate("box => box.scrollHeight <= box.clientHeight")


def test_the_answers_are_in_the_first_screen_of_a_laptop(visit: Visit) -> None:
    page = visit("/masks?model=multi30k-en-de&text=Two young children are playing football in the park.")
    page.set_viewport_size({"width": 1366, "height": 768})
    expect(page.locator(".labelled .foot")).to_have_count(2)
    expect(page.locator(".labelled output").first).to_contain_text("computed for every cell")
    for part in (page.get_by_text("63 of 121 cells are open"), *page.locator(".labelled .foot").all()):
        expect(part).to_be_in_viewport(ratio=1)
    written = page.locator(".labelled canvas").first.evaluate(_REDRAW)
    assert {"−2.2", "1.1", ".8"} <= {*written}, "as in smaller cells, a score has no plus"
    assert not [text for text in written if text.startswith("+")]
    expect(page.get_by_text("63 of 121 cells are open")).to_contain_text("Padding is pale, rows and columns.")
    page.get_by_text("Choose head and batch").click()
    layer, head = (page.get_by_role("combobox", name=re.compile(name)) for name in ("Layer", "Head"))
    assert box_of(layer)["y"] == box_of(head)["y"], "in one row"


@pytest.mark.parametrize(
    "text",
    [
        "The old man in the blue hat sells fresh fruit at the market.",
        "Two young women in red dresses dance together on a wooden stage outdoors at night.",
        "A group of young people in white shirts stands together in front of a large building.",
    ],
)
def test_both_maps_are_level_and_a_click_moves_nothing(visit: Visit, text: str) -> None:
    page = visit(f"/masks?model=multi30k-en-de&text={text}")
    scores, weights = (page.locator(".labelled canvas").nth(at) for at in (0, 1))
    said = page.locator(".labelled output")
    for width, height in ((1366, 768), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        expect(said.first).to_contain_text("computed for every cell")
        settle(page)
        assert scores.get_attribute("data-plot") == weights.get_attribute("data-plot")
        places = [box_of(part) for part in (scores, weights, *said.all())]
        assert places[0]["y"] == places[1]["y"]
        assert max(place["y"] for place in places[2:]) < height - 20, "the first line of each is on the first screen"
        for row, column in ((1, 5), (4, 2), (9, 9)):
            click_cell(scores, row, column)
            expect(said).to_have_text([re.compile(": score "), re.compile(": weight 0")])
            assert [box_of(part) for part in (scores, weights, *said.all())] == places
        click_cell(scores, -1, 2)


def test_padding_is_pale_below_a_line_and_the_scale_is_that_of_the_other_cells(visit: Visit) -> None:
    text = "Two young women in red dresses dance together on a wooden stage outdoors at night."
    page = visit(f"/masks?model=multi30k-en-de&text={text}")
    scores, ramp = page.locator(".labelled canvas").first, page.locator(".labelled .ramp").first
    expect(ramp).to_have_text("−2.412.41 score")
    page.set_viewport_size({"width": 1600, "height": 900})  # with room for numbers
    notes = page.locator(".marks")
    expect(notes.first).to_contain_text("beyond the scale: padding, to ")
    furthest = float(re.findall(r"\d\.\d\d", str(notes.first.text_content()))[0])
    expect(notes.nth(1)).not_to_contain_text("beyond the scale")
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(notes.first).to_have_text("numbers: choose a cell")
    (*_, rows, _columns) = map(float, str(scores.get_attribute("data-plot")).split(","))

    def strength(row: float) -> int:
        return sum(255 - each for each in colour(scores, int(row), 0, 0.5, 0.25))

    click_cell(scores, int(rows) - 1, 0)
    beyond = re.search(r"score (\d\.\d+)", str(page.locator(".labelled output").first.text_content()))
    assert beyond
    assert 2.41 < float(beyond[1]) <= furthest + 0.005, "it would be as strong as the strongest"
    click_cell(scores, -1, 0)
    assert 0 < strength(rows - 1) < strength(rows - 4) / 2, "three rows are padding"
    line = [colour(scores, int(rows) - 3, 0, across / 40, 0) for across in range(4, 36)]
    assert len({*map(tuple, line)}) > 1, "the line is dashed"


def test_as_many_columns_as_fit_are_all_in_sight_and_more_of_them_fade_out(visit: Visit) -> None:
    page = visit("/masks?model=reverse-decoder&text=abcdefghijklmn")
    page.set_viewport_size({"width": 1366, "height": 768})
    boxes = page.locator(".labelled .box")
    expect(boxes.first.locator("canvas")).to_have_attribute("data-plot", re.compile(rf",{MOST_COLUMNS}$"))
    for box in boxes.all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth && getComputedStyle(box).maskImage === 'none'")
    page = visit("/masks?model=reverse-decoder&text=abcdefghijklmnopqrst")
    for box in boxes.all():
        expect(box).to_have_css("mask-image", re.compile("gradient"))
        box.evaluate("box => box.scrollTo(1000, 0)")
        expect(box).to_have_css("mask-image", "none")


def test_a_given_target_begins_with_its_answer_and_has_its_controls_in_one_line(visit: Visit) -> None:
    page = visit("/masks?model=multi30k-en-de&masks_tab=Given target&text=Two young children are playing football.")
    page.set_viewport_size({"width": 1366, "height": 768})
    answer, field = (
        page.get_by_text("on average with the mask and"),
        page.get_by_role("textbox", name="The right translation"),
    )
    expect(answer).to_be_visible()
    assert box_of(answer)["y"] < box_of(field)["y"] < box_of(page.locator(".labelled canvas"))["y"]
    middles = []
    for part in (field, *(page.get_by_role("combobox", name=re.compile(name)) for name in ("Layer", "Head"))):
        middles.append(box_of(part)["y"] + box_of(part)["height"] / 2)
    lift = box_of(page.get_by_text("Lift the causal mask"))
    middles.append(lift["y"] + lift["height"] / 2)
    assert max(middles) - min(middles) < 12


def test_the_line_below_says_which_mask_closes_a_cell(visit: Visit) -> None:
    """The same for a pointer and for a finger, and in view."""
    page = visit("/masks?model=adjective-swap&text=I+read+red+books")
    page.set_viewport_size({"width": 390, "height": 560})
    scores, line = page.locator(".labelled canvas").first, page.locator(".labelled output").first
    said = {}
    for row, column in ((1, 0), (1, 6), (1, 2)):
        click_cell(scores, row, column)
        said[row, column] = str(line.text_content())
        expect(line).to_be_in_viewport()
    assert re.search(r": score −?\d\.\d{3}$", said[1, 0]), "an open cell"
    assert said[1, 2].endswith(", closed by the causal mask")
    assert said[1, 6].endswith(", closed by the padding mask")
    left, top, cell = (float(number) for number in str(scores.get_attribute("data-plot")).split(",")[:3])
    scores.hover(position={"x": left + 2.5 * cell, "y": top + 1.5 * cell})
    assert line.text_content() == said[1, 2]
    page.get_by_text("Causal mask", exact=True).click()
    expect(line).not_to_contain_text("closed by")


_TOPS = """() => [...document.querySelectorAll("[data-testid=stMain] :is(h5, canvas, summary)")].map(each =>
  Math.round(each.getBoundingClientRect().top + document.querySelector("[data-testid=stMain]").scrollTop))"""


@pytest.mark.parametrize(
    ("query", "size"),
    [
        ("model=multi30k-en-de&masks_tab=Given target", (1366, 768)),
        ("model=multi30k-en-de&masks_tab=Given target&lang=de", (1366, 768)),
        ("model=reverse-decoder&text=headlight", (390, 844)),
    ],
)
def test_the_first_chosen_cell_moves_nothing(visit: Visit, query: str, size: tuple[int, int]) -> None:
    page = visit(f"/masks?{query}")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    settle(page)
    canvas = page.locator(".labelled canvas").first
    canvas.scroll_into_view_if_needed()
    before = page.evaluate(_TOPS)
    click_cell(canvas, 3, 1)
    expect(page.locator(".labelled output").first).to_contain_text(re.compile("“: Gewicht|”: (weight|score)"))
    assert page.evaluate(_TOPS) == before


def test_german_numbers_have_their_zero_and_the_minus_of_texts(visit: Visit) -> None:
    text = "a young man in a red shirt is playing guitar for his small children"
    for query in ("", f"&text={text}"):
        page = visit(f"/masks?model=multi30k-en-de&lang=de{query}")
        page.set_viewport_size({"width": 1366, "height": 768})
        settle(page)
        for canvas in page.locator(".labelled canvas").all():
            written = canvas.evaluate(_REDRAW)
            assert [text for text in written if re.fullmatch(r"−?0,\d+", text)]
            assert not [text for text in written if re.match(r"[−>-]?[,.]\d|-|−?0,0+$", text)]


def test_a_field_that_can_be_used_is_white(visit: Visit) -> None:
    page = visit("/masks?model=multi30k-en-de&masks_tab=Given target")
    page.set_viewport_size({"width": 1366, "height": 768})
    fields = page.locator(".stMain :is([data-testid=stTextInputRootElement], .react-aria-ComboBox > div)")
    expect(fields).to_have_count(3)
    for field in fields.all():
        expect(field).to_have_css("background-color", "rgb(255, 255, 255)")
    fields.first.locator("input").evaluate("input => { input.disabled = true }")
    expect(fields.first).not_to_have_css("background-color", "rgb(255, 255, 255)")


def test_digits_of_signed_numbers_are_white_in_the_dark(visit: Visit) -> None:
    page = visit("/masks?model=multi30k-en-de")
    page.emulate_media(color_scheme="dark")
    page.reload()
    settle(page)
    inks = page.locator(".labelled canvas").first.evaluate(_REDRAW.replace("push(text)", "push(this.fillStyle)"))
    assert {*inks} <= {"#ffffff", "#e4e9ee"}, "the text of the page, or white"
