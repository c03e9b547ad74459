"""The large maps of both views in a real browser: planted weights, masks, and any text and size are drawn correctly."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser import box_of
from tests.e2e.bench import NASTY, Bench, ends_of_scale
from tests.e2e.stage import long_trace
from tests.explorer.planted import planted_trace
from tests.explorer.planted_heads import random_trace
from tests.some import some

READOUT = {"stepper": "figure.{} .readout", "heads": ".cell"}


def readout(bench: Bench, kind: str) -> str:
    return bench.text(READOUT[bench.look].format(kind))


def test_rows_are_queries_from_the_top_and_columns_are_keys(either: Bench) -> None:
    either.mount(step=5, layer=1, head=2, view="head.beside")
    # The decoder's head looks one token back; those of encoder and cross-attention one token to the right.
    assert [int(np.argmin(row)) for row in either.painted("decoder")] == [0, 0, 1, 2, 3]
    assert [int(np.argmin(row)) for row in either.painted("cross")] == [1, 2, 3, 4, 0]
    if either.look == "heads":
        either.mount(step=5, layer=1, head=2, view="head", kind="encoder")
        assert [int(np.argmin(row)) for row in either.painted("encoder")] == [1, 2, 3, 4, 0]


def test_labels_stand_at_their_rows_and_columns_and_axes_are_named(either: Bench) -> None:
    trace = planted_trace(("the", "cat", "the", "<eos>"), ("<sos>", "x", "y"))
    either.mount(trace, step=1, view="head", layer=1, head=1)
    either.listen()
    either.press("End")
    places = either.written("cross")
    left, top, cell, rows, columns = either.plot("cross")
    assert (rows, columns) == (3, 4)
    for key, name in enumerate(("1 the", "2 cat", "3 the", "4 <eos>")):
        assert places[name][0] == pytest.approx(left + (key + 0.5) * cell, abs=1)
        assert places[name][1] < top
    for query, (reads, predicts) in enumerate((("1 <sos>", "x"), ("2 x", "y"), ("3 y", "<eos>"))):
        assert places[reads][1] == pytest.approx(top + (query + 0.5) * cell, abs=1)
        assert places[reads][0] < left
        if either.look == "heads":
            assert places[f"→ {predicts}"][1] == pytest.approx(places[reads][1], abs=1)
            assert places[f"→ {predicts}"][0] > left + columns * cell
    assert places["decoder reads (query)"][0] < left
    assert places["source (key)"][1] < top


@pytest.mark.parametrize("dark", [False, True])
def test_weights_are_on_the_scale_from_zero_to_one(either: Bench, dark: bool) -> None:
    either.mount(layer=1, head=1, step=5, dark=dark, view="head")
    assert [either.colour("cross", 0, key)[:3] for key in (3, 0)] == ends_of_scale(dark)
    assert either.text(".ramp").split() == ["0", "1"]


def test_masked_cells_are_grey_off_the_scale_and_say_why(either: Bench) -> None:
    trace = planted_trace()
    trace.encoder_mask[:, 4] = 2
    trace.encoder[..., 4] = 0
    either.mount(trace, step=3, layer=1, head=1, view="head.beside")
    zero = either.colour("cross", 0, 3)
    for kind, query, key, reason in (("decoder", 1, 3, "future"), ("encoder", 2, 4, "padding")):
        red, green, blue, _ = either.colour(kind, query, key)
        assert max(red, green, blue) - min(red, green, blue) <= 3, "masked is grey"
        assert max(abs(a - b) for a, b in zip((red, green, blue), zero, strict=False)) > 8, "masked is not weight 0"
        either.hover(f"figure.{kind} canvas", position=either.point(kind, query, key))
        assert f"masked ({reason})" in readout(either, kind)
        if either.look == "heads":  # whose table is of the cell that is chosen
            either.click(f"figure.{kind} canvas", position=either.point(kind, query, key))
            either.open_table()
            expect(either("tbody")).to_contain_text(f"masked: {reason}")
            either.click("summary")


@pytest.mark.parametrize(
    ("view", "width"),
    [
        *((view, 1000) for view in ("lines", "text")),
        *((view, 358) for view in ("stepper", "head.beside")),
    ],
)
def test_tokens_are_only_ever_text(request: pytest.FixtureRequest, view: str, width: int) -> None:
    bench: Bench = request.getfixturevalue("stage" if view == "stepper" else "heads")
    requests: list[str] = []
    bench.page.on("request", lambda request: requests.append(request.url))
    bench.narrow(width)
    trace = random_trace(NASTY, ["<sos>", *NASTY[:6]], layers=(1, 2), heads=(3, 2))
    for kind in ("encoder", "decoder", "cross"):
        bench.mount(trace, kind=kind, layer=1, head=1, view=view, step=4, width=width)
        bench.open_table()
        assert bench("img, script").count() == 0
        texts = "tbody, .source .chips" if view == "stepper" else "tbody, .caption"
        assert view.startswith("heads") or "alert(1)" in " ".join(bench(texts).all_inner_texts())
        shown = {"stepper": ".source .chips", "lines": ".lines", "text": ".strip"}.get(view)
        assert shown is None or "U+202Eevil" in bench.text(shown)
        assert bench.fits(), "the page itself never scrolls sideways"
    assert [url for url in requests if not url.startswith(("blob:", "about:", "data:"))] == []


@pytest.mark.parametrize(("n_src", "n_tgt", "width"), some([(100, 100, 358), (1, 1, 358)], 2))
def test_any_length_is_drawn_by_the_stepper(stage: Bench, n_src: int, n_tgt: int, width: int) -> None:
    source, target = [f"w{i}" for i in range(n_src - 1)], ["v"] * (n_tgt - 1)
    stage.narrow(width)
    trace = planted_trace([*source, "<eos>"], ["<sos>", *target], heads=(2, 9))
    stage.mount(trace, step=n_tgt, layer=1, head=1, width=width)
    for kind, rows, columns in (("encoder", n_src, n_src), ("decoder", n_tgt, n_tgt), ("cross", n_tgt, n_src)):
        _, _, cell, drawn, across = stage.plot(kind)
        assert (drawn, across) == (rows, columns)
        assert cell >= 3
    assert stage.colour("cross", 0, 0)[:3] != stage.colour("cross", 0, n_src - 1)[:3] or n_src == 1
    assert stage.fits()


@pytest.mark.parametrize(("n_src", "n_tgt"), some([(60, 100), (1, 4)], 2))
def test_any_length_is_drawn_by_the_views_of_heads(heads: Bench, n_src: int, n_tgt: int) -> None:
    source, target = [f"w{i}" for i in range(n_src - 1)], ["v"] * (n_tgt - 1)
    trace = random_trace([*source, "<eos>"], ["<sos>", *target], layers=(1, 2), heads=(3, 5))
    for kind, rows, columns in (("encoder", n_src, n_src), ("decoder", n_tgt, n_tgt), ("cross", n_tgt, n_src)):
        heads.mount(trace, kind=kind, layer=1, head=1)
        assert heads(".tile").count() == (4 if kind == "encoder" else 12)
        heads.click(".views button[value=head]")
        assert heads.plot(kind)[3:] == (rows, columns)
        heads.click(".views button[value=lines]")
        assert (heads(".left .end").count(), heads(".right .end").count()) == (rows, columns)
        heads.click(".views button[value=text]")
        assert heads(".strip > div:last-child .word").count() == columns


BOX = "root.querySelector('figure.cross canvas').parentNode"


def test_the_scale_of_a_long_sentence_ends_at_what_its_rows_typically_have(either: Bench) -> None:
    trace = long_trace(30)
    trace.cross[:] = 0.02
    trace.cross[:, :, np.arange(31), np.arange(31)] = 0.3968
    either.mount(trace, kind="cross", layer=1, head=1, step=3, view="head")
    why = (
        "In a long sentence, most weights are small: the colours end at 0.4, "
        "the median of the largest weights of the rows of all heads."
    )
    assert (either.text(".ramp"), either(".ramp").get_attribute("title")) == ("0 0.4 and more", why)
    either.mount(long_trace(20), kind="cross", layer=1, head=1, step=3, view="head")
    assert (either.text(".ramp"), either(".ramp").get_attribute("title")) == ("0 1", "")


def test_a_map_without_numbers_says_where_they_are(either: Bench) -> None:
    about = "figure.cross .below" if either.look == "heads" else "figure.cross small"
    told = "numbers: choose a cell"
    either.mount(long_trace(40), kind="cross", layer=1, head=1, step=20, view="head", width=600)
    either.press("-", "-")
    assert told in either.text(about)
    either.mount(kind="cross", layer=1, head=1, step=1, view="head")
    assert told not in either.text(about)


def test_cells_of_a_long_sentence_are_readable_unless_somebody_zooms_out(either: Bench) -> None:
    either.mount(long_trace(100), kind="cross", layer=1, head=1, step=2, view="head")
    assert either.plot("cross")[2] >= 12
    either.press("-", "-")
    assert either.plot("cross")[2] < 12
    either.press("0", "+")
    assert either.plot("cross")[2] > 12
    either.click("figure.cross .zoom button[value='0']")
    assert either.plot("cross")[2] == 12


def test_a_map_that_does_not_fit_says_how_much_is_beyond_the_edge_and_cuts_no_row(heads: Bench) -> None:
    heads.mount(long_trace(60), kind="cross", layer=1, head=1, step=1, view="head")
    left, top, cell, rows, columns = heads.plot("cross")
    size = f"(() => {{ const b = {BOX}; return [b.clientWidth, b.clientHeight, b.scrollWidth]; }})()"
    width, height, whole = heads.page.evaluate(size)
    right = whole - left - columns * cell
    assert (height - top) % cell == 0
    seen = (height - top) / cell, (width - left - right) / cell
    assert seen[1] == int(seen[1]), "and no column"
    about = f"{rows - seen[0]:.0f} rows below · {columns - seen[1]:.0f} columns to the right"
    assert heads.text("figure.cross .below").startswith(about)
    heads.press("End")
    heads.frame()
    about = f"{rows - seen[0]:.0f} rows above · {columns - seen[1]:.0f} columns to the left"
    assert heads.text("figure.cross .below").startswith(about)
    heads.mount(kind="cross", layer=1, head=1, step=1, view="head")
    assert not re.search("above|below:? |to the", heads.text("figure.cross .below").replace("number: below", ""))


@pytest.mark.parametrize(("words", "width"), some([(26, 1000), (7, 1000), (26, 358)], 3))
def test_a_click_at_one_point_zooms_again_and_moves_nothing_below(either: Bench, words: int, width: int) -> None:
    either.narrow(width)
    either.mount(long_trace(words), kind="cross", layer=1, head=1, step=words, view="heads", width=width)
    plus, below = either("figure.cross .zoom button[value='1']"), either("summary")
    plus.scroll_into_view_if_needed()
    box, low, cells = box_of(plus), box_of(below)["y"], [either.plot("cross")[2]]
    for _ in range(2):
        either.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        either.frame()
        cells.append(either.plot("cross")[2])
        assert (box_of(plus), box_of(below)["y"]) == (box, pytest.approx(low, abs=1))
    assert cells[0] < cells[1] < cells[2]


@pytest.mark.parametrize("view", ["head", "heads"])
def test_a_map_of_a_long_sentence_has_the_same_colours_on_both_pages(either: Bench, view: str) -> None:
    trace = long_trace(30)
    trace.cross[:] = 0.01
    trace.cross[:, :, np.arange(31), np.arange(31)] = 0.2
    trace.cross[0, 0, np.arange(31), np.arange(31)] = 0.7
    either.mount(trace, kind="cross", layer=1, head=1, step=9, view=view)
    assert either.text(".ramp") == "0 0.2 and more", "the median over all heads, not of this one"
    either.mount(trace, kind="cross", layer=1, head=2, step=9, view=view)
    assert either.text(".ramp") == "0 0.2 and more"
    assert either.colour("cross", 3, 3)[:3] == ends_of_scale(dark=False)[1]


def test_columns_beyond_the_left_edge_are_named_at_the_map_whose_labels_keep_apart(heads: Bench) -> None:
    heads.narrow(358)
    heads.mount(long_trace(26), kind="cross", layer=1, head=1, step=1, view="heads", width=358)
    heads.listen()
    heads.page.evaluate(f"{BOX}.scrollLeft = 30")
    heads.frame()
    ratio = heads.page.evaluate("devicePixelRatio")
    left, top, cell, *_ = heads.plot("cross")
    written = {text: (x / ratio - 30, y / ratio) for text, (x, y) in heads.written("cross").items()}
    x, y = written[f"‹ {-(-29 // cell):.0f} columns"]
    assert x < left
    assert 0 < y < top
    starts = [x for text, (x, y) in written.items() if " word" in text and y < top]
    assert min(starts) >= left + 5, "no label reaches into the title beside it"
    heads.page.evaluate("window.written = []")
    heads.page.evaluate(f"{BOX}.scrollLeft = 0")
    heads.frame()
    assert not [text for text in heads.written("cross") if "‹" in text]


def test_the_row_in_view_of_a_long_sentence_is_on_the_first_screen_with_its_numbers(stage: Bench) -> None:
    trace = long_trace(26)
    trace.cross[:] = 0.01
    trace.cross[:, :, 23, 19] = 0.39
    stage.page.set_viewport_size({"width": 1366, "height": 768})
    stage.prepare(width=986)
    stage.page.evaluate("document.querySelector('#host').style.marginTop = '130px'")  # what a page has above it
    stage.send(trace, kind="cross", layer=1, head=1, step=1)
    stage.listen()
    stage.press(*["ArrowRight"] * 23)
    stage.frame()
    sheet = box_of(stage("figure.cross .sheet"))
    assert sheet["y"] + sheet["height"] <= 768
    _, top, _, rows, _ = stage.plot("cross")
    tall = float(str(stage("figure.cross canvas").get_attribute("data-tall")))
    scrolled = stage.page.evaluate(f"{BOX}.scrollTop")
    assert rows == 24
    assert scrolled > 0
    assert top <= top + 23 * tall - scrolled <= sheet["height"] - tall
    assert {".39", "20 word19", "24 word22"} <= set(stage.written("cross"))
    assert re.fullmatch(r"\d+ rows above", stage.text("figure.cross small"))
    title = max(stage.written("cross")[part][1] for part in ("decoder reads", "(query)"))
    assert title - scrolled < top, "it stands above the rows, which are lower than it is long"


def test_a_long_map_follows_the_step_and_keeps_its_labels_in_sight(either: Bench) -> None:
    either.mount(long_trace(60), kind="cross", layer=1, head=1, step=1, view="head")
    assert either.page.evaluate(f"{BOX}.scrollTop") == 0
    either.listen()
    either.press("End")
    either.frame()
    left, top, cell, *_ = either.plot("cross")
    x, y, width, height = either.page.evaluate(
        f"(() => {{ const b = {BOX}; return [b.scrollLeft, b.scrollTop, b.clientWidth, b.clientHeight]; }})()"
    )
    assert y > 0
    assert y + top <= top + 60 * cell <= y + height, "the row in view is in sight"
    for step in (1, 42):
        either.mount(long_trace(60), kind="cross", layer=1, head=1, step=step, view="head")
    middle = top + 41.5 * cell - either.page.evaluate(f"{BOX}.scrollTop")
    assert abs(middle - (top + height) / 2) < 2 * cell, "with rows before and after it"
    either.press("End")
    either.frame()
    labels = either.written("cross")
    ratio = either.page.evaluate("devicePixelRatio")
    assert labels["61 word59"][0] / ratio < x + left, "its label stands at the left edge"
    column = labels["61 <eos>"]
    assert y <= column[1] / ratio <= y + top, "the label of the last key stands above the cells in sight"
    assert x + left <= column[0] / ratio <= x + width
