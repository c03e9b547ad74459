"""The Attention views in a real browser: planted heads are drawn correctly, and texts say what the figures show."""

from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

from model.trace import AttentionTrace
from tests.browser import box_of
from tests.e2e.bench import Bench, ends_of_scale, pixels
from tests.explorer.planted import planted_trace
from tests.explorer.planted_heads import CROSS, DECODER, ENCODER, heads_trace, random_trace
from tests.some import some

N = 6  # tokens on either side of the planted heads
LEFT, RIGHT = ".strip > div:first-child .word", ".strip > div:last-child .word"


def small_trace(**sizes: tuple[int, int]) -> AttentionTrace:
    return random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"], **sizes)


def long_trace(**sizes: tuple[int, int]) -> AttentionTrace:
    return random_trace([*"abcdefgh", "<eos>"], ["<sos>", *"xyzuv"], **sizes)


# All heads


@pytest.mark.parametrize(("kind", "roles"), some([("decoder", DECODER), ("encoder", ENCODER), ("cross", CROSS)], 3))
def test_thumbnails_are_the_planted_heads_with_their_role(heads: Bench, kind: str, roles: dict) -> None:
    heads.mount(heads_trace(), kind=kind)
    for head, (name, place) in enumerate(roles.items(), start=1):
        rows = heads.thumbnail(f"Layer 1, head {head}:", N, N)[1:-1]  # the rows in view have marks at either end
        assert [int(np.argmin(row)) for row in rows] == [place(query, N, N) for query in range(1, N - 1)], name
        label = heads(f'.tile[value="{kind} 1 {head}"]').get_attribute("aria-label")
        assert label == f"Layer 1, head {head}: 1.0 keys, {name} 100\u202f%"
    none = str(heads(f'.tile[value="{kind} 1 {len(roles) + 1}"]').get_attribute("aria-label"))
    assert none.endswith(" keys"), "a head without a role has no share of one"
    assert heads(".tile").count() == len(roles) + 2, "the heads and their mean"
    if kind == "decoder":
        masked, zero = heads.in_thumbnail('.tile[value="decoder 1 1"]', (3.5 / N, 1.5 / N), (0.5 / N, 4.5 / N))
        assert max(masked[:3]) - min(masked[:3]) <= 3, "masked is grey"
        assert max(abs(a - b) for a, b in zip(masked, zero, strict=True)) > 8, "and not weight 0"


def test_the_head_that_is_pointed_at_is_large_and_said_in_words(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, step=3)
    heads('.tile[value="cross 1 2"]').hover()
    expect(heads("figure.cross figcaption")).to_contain_text("layer 1 · head 2")
    assert [int(np.argmin(row)) for row in heads.painted("cross")] == [CROSS["mirror"](q, N, N) for q in range(N)]
    says = "To write sah, having read 3 hund, cross-attention looks at 3 saw 100 %."
    assert heads.text(".lead") == says, "the map has the layer and the head as its title"
    heads.away()
    expect(heads("figure.cross figcaption")).to_contain_text("layer 1 · head 1")
    heads("figure.cross canvas").click(position=heads.point("cross", 1, 3))
    expect(heads(".explorer")).to_have_attribute("data-view", "head")
    expect(heads(".cell")).to_contain_text("4 the")
    heads.press("3")
    expect(heads(".explorer")).to_have_attribute("data-view", "lines")


def test_the_row_that_is_pointed_at_is_marked_while_the_sentence_is_about_it(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, step=4)
    left, top, cell, *_ = heads.plot("cross")

    def frame(query: int) -> tuple[int, ...]:
        at = {"x": left + 4.5 * cell, "y": top + query * cell - 0.5}
        return pixels(heads("figure.cross canvas"), [at])[0][:3]

    said, plain, framed = heads.text(".lead"), frame(1), frame(3)
    assert said.startswith("To write die, having read 4 sah")
    assert heads.step() == "step 4 of 6"
    heads.listen()
    heads.hover("figure.cross canvas", position=heads.point("cross", 1, 5))
    assert heads.text(".lead") == "To write hund, having read 2 der, cross-attention looks at 2 cat 100 %."
    assert heads.bold("cross") == {"2 der", "2 cat"}, "the row and the keys that the sentence names"
    assert heads.step() == "step 4, row 2"
    assert frame(1) == framed
    assert [a - b for a, b in zip(framed, frame(3), strict=True)] == pytest.approx(
        [(a - b) / 2 for a, b in zip(framed, (255, 255, 255), strict=True)], abs=2
    ), "the row of the step has a lighter frame meanwhile"
    heads.listen()
    heads.away()
    assert (heads.text(".lead"), heads.step(), frame(1), frame(3)) == (said, "step 4 of 6", plain, framed)
    assert heads.bold("cross") == {"4 sah", "4 the"}


def test_where_only_marked_rows_have_room_for_numbers_they_have_them(heads: Bench) -> None:
    source = [f"w{i}" for i in range(1, 26)]
    trace = planted_trace([*source, "<eos>"], ["<sos>", *source])
    trace.cross[0, 0] = 0.01
    trace.cross[0, 0, :, 25] = 0.1
    trace.cross[0, 0, :, 2] = 0.04
    trace.cross[0, 0, 6, 20] = 0.61
    trace.cross[0, 0, 2, 11] = 0.6
    heads.mount(trace, kind="cross", layer=1, head=1, step=3)
    left, top, cell, *_ = heads.plot("cross")
    assert 12 <= cell < 20, "too small for the numbers of all cells"
    heads.listen()
    heads.hover("figure.cross canvas", position=heads.point("cross", 6, 5))
    ratio = heads.page.evaluate("devicePixelRatio")
    written = {text: (x / ratio, y / ratio) for text, (x, y) in heads.written("cross").items() if text[0] == "."}
    assert set(written) == {".60", ".61", ".10"}
    for number, (query, key) in {".60": (2, 11), ".61": (6, 20)}.items():
        assert written[number] == pytest.approx((left + (key + 0.5) * cell, top + (query + 0.5) * cell), abs=1)
    row = heads.painted("cross")[6]
    assert len(set(row[:2] + row[3:20] + row[21:25])) == 1, "no number covers a cell beside its own"
    assert heads.text("figure.cross .below") == "numbers: marked rows, from 0.05 where they fit"
    label = str(heads("figure.cross canvas").get_attribute("aria-label"))
    assert label.endswith("Row 7 w6: 21 w21 61\u202f%, 26 <eos> 10\u202f%.")
    heads.press("+", "+", "+")
    assert "marked rows" not in heads.text("figure.cross .below"), "all cells have their numbers"


def test_a_head_that_is_scrolled_below_a_resting_pointer_is_not_shown(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, step=3)
    place = box_of(heads('.tile[value="cross 1 2"]'))
    heads.page.mouse.move(place["x"] + 10, place["y"] + 10)
    expect(heads("figure.cross figcaption")).to_contain_text("head 2")
    heads.away()
    expect(heads("figure.cross figcaption")).to_contain_text("head 1")
    # What a browser sends to a pointer that has not moved.
    heads('.tile[value="cross 1 2"]').dispatch_event("pointerover", {"bubbles": True, "pointerType": "mouse"})
    heads.frame()
    expect(heads("figure.cross figcaption")).to_contain_text("head 1")


def test_the_table_of_heads_is_sorted_by_its_numbers(heads: Bench) -> None:
    heads.mount(small_trace())
    assert heads(".tile b").all_inner_texts()[:3] == ["L1 H1", "L1 H2", "L1 mean"]
    heads.open_table()
    heads.click("th:has-text('first') button")
    column = heads("th").all_inner_texts().index("first")
    shares = [float(row.split("\t")[column].rstrip(" %\u202f")) for row in heads("tbody tr").all_inner_texts()]
    assert len(shares) == 6
    assert shares == sorted(shares, reverse=True)


# One head


def test_aligning_to_the_predicted_word_moves_the_labels_by_one_row(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, view="head", step=1)
    heads.listen()
    heads.choose("next", "next")
    places = heads.written("cross")
    _, top, cell, *_ = heads.plot("cross")
    assert "decoder predicts (query)" in places
    assert places["1 der"][1] == pytest.approx(top + 0.5 * cell, abs=1)
    assert places["after <sos>"][1] == pytest.approx(top + 0.5 * cell, abs=1)
    assert places["6 <eos>"][1] < top, "the last row predicts <eos>; the column of that name stands above"
    assert places["after katze"][1] == pytest.approx(top + 5.5 * cell, abs=1)


def test_hover_shows_and_a_click_chooses_a_cell(heads: Bench) -> None:
    trace = small_trace()
    heads.mount(trace, kind="cross", layer=2, head=1, view="head", step=3)
    weights = trace.cross[1, 0]
    heads.hover("figure.cross canvas", position=heads.point("cross", 0, 2))
    rank = int((weights[0] > weights[0, 2]).sum()) + 1
    entropy = -(weights[0].astype(float) * np.log(weights[0].astype(float))).sum()
    read = heads.text(".cell")
    assert f"query reads 1 <sos> → predicts x key 3 c weight {weights[0, 2]:.3f} rank {rank} of 4" in read
    assert f"row looks at {np.exp(entropy):.2f} keys (entropy {entropy:.3f} nats)" in read
    assert "uniform would be 0.250 for each of 4 keys" in read
    heads.away()
    assert "weight" not in heads.text(".cell")
    heads("figure.cross canvas").click(position=heads.point("cross", 1, 3))
    heads.away()
    assert 0 < weights[1, 3] < 0.0005
    assert "key 4 <eos> weight < 0.001" in heads.text(".cell")
    assert heads.text(".walk output") == "step 2 of 3", "the row of a cell is the step of all views"
    heads.press("Escape")
    assert "weight" not in heads.text(".cell")


@pytest.mark.parametrize("dark", some([True, False], 2))
def test_scales(heads: Bench, dark: bool) -> None:
    trace = heads_trace()
    trace.cross[0, 0] = 0.25 * trace.cross[0, 0] + 0.125  # two weights: 0.375 and 0.125
    heads.mount(trace, dark=dark, kind="cross", layer=1, head=1, view="head", step=6)
    highest = ends_of_scale(dark)[1]
    assert heads.colour("cross", 1, 1)[:3] != highest
    heads.choose("scale", "max")
    assert heads.colour("cross", 1, 1)[:3] == highest
    assert heads.text(".ramp span:last-child") == "0.375"
    heads.choose("scale", "log")
    assert heads.text(".ramp span:first-child") == "≤ 0.0001"


def test_brushing_rows_and_columns(heads: Bench) -> None:
    trace = small_trace()
    heads.mount(trace, kind="cross", layer=1, head=1, view="head", step=1)
    canvas, before = heads("figure.cross canvas"), heads.colour("cross", 2, 3)
    box, start, end = box_of(canvas), heads.point("cross", 0, 1), heads.point("cross", 1, 2)
    heads.page.mouse.move(box["x"] + start["x"], box["y"] + start["y"])
    heads.page.mouse.down()
    heads.page.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=4)
    heads.page.mouse.up()
    heads.frame()
    mean = trace.cross[0, 0, :2, 1:3].astype(float).sum(axis=-1).mean()
    assert f"rows 1–2 put {100 * mean:.1f} % of their weight on columns 2–3" in heads.text(".cell")
    assert heads.colour("cross", 2, 3) != before, "cells outside the selection are faded"
    heads.press("Escape")
    assert "put" not in heads.text(".cell")
    canvas.focus()
    heads.press("Shift+ArrowDown")
    assert "rows 1–2 put" in heads.text(".cell")


def test_only_up_to_this_step_leaves_later_rows_out(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, view="head.steps", step=2)
    assert heads.plot("cross")[3] == 2
    heads.press("ArrowRight")
    assert heads.plot("cross")[3] == 3
    heads.click(".options")
    heads("input[name=steps]").uncheck()
    heads.frame()
    assert heads.plot("cross")[3] == N


# Lines


def test_hovering_a_token_shows_its_lines_only(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=1, view="lines", step=6)
    canvas = heads(".body canvas")
    assert canvas.get_attribute("data-lines") == "6", "the diagonal head: one line a row"
    heads(".left .end").nth(2).hover()
    heads.frame()
    assert canvas.get_attribute("data-lines") == "1"
    sentence = "To write sah, having read 3 hund, cross-attention looks at 3 saw 100 %. (Layer 1, head 1.)"
    assert sentence in heads.text(".caption")
    heads(".right .end").nth(4).focus()
    heads.frame()
    assert canvas.get_attribute("data-lines") == "1"
    heads(".right .end").nth(4).blur()
    heads.away()
    assert canvas.get_attribute("data-lines") == "6"


def test_lines_of_several_heads_and_the_share_that_they_hold(heads: Bench) -> None:
    trace = small_trace()
    heads.mount(trace, kind="cross", layer=2, head=1, view="lines", step=3)

    def expected(mass: float, *chosen: int) -> str:
        rows = [np.sort(row.astype(float))[::-1] for head in chosen for row in trace.cross[1, head - 1]]
        return str(sum(int(np.searchsorted(np.cumsum(row), mass - 1e-6)) + 1 for row in rows))

    canvas = heads(".body canvas")
    assert canvas.get_attribute("data-lines") == expected(0.8, 1)
    assert f"{expected(0.8, 1)} of 12 lines hold 80 % of each row's weight." in heads.text(".caption")
    heads.click(".headpick:has-text('H2')")
    assert canvas.get_attribute("data-lines") == expected(0.8, 1, 2)
    assert "(Layer 2, head 2.)" in heads.text(".caption")
    heads(".mass input").fill("50")
    heads.frame()
    assert canvas.get_attribute("data-lines") == expected(0.5, 1, 2)
    assert heads.reported_view() == "lines.mass-50.h-1-2"
    heads.open_table()
    assert heads.text("thead").replace(" ↑", "") == "key H1 H2"
    assert f"{trace.cross[1, 1, 2, 3]:.4f}" in heads.text("tbody")


# The sentence


def test_the_sentence_is_shaded_by_what_a_token_attends_to(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=2, view="text", step=2)
    words = heads(RIGHT)
    assert words.all_inner_texts()[3].split() == ["the", "100", "%"]
    heads(LEFT).nth(3).click()
    heads.frame()
    assert words.nth(1).inner_text().split() == ["cat", "100", "%"]
    colour = "element => getComputedStyle(element).backgroundColor"
    assert words.nth(1).evaluate(colour) != words.nth(3).evaluate(colour)
    assert heads.text(".walk output") == "step 4 of 6"
    heads.away()
    heads.mount(heads_trace(), kind="decoder", layer=1, head=2, view="text", step=3)  # shades its own sentence
    assert heads(LEFT).nth(2).get_attribute("aria-pressed") == "true"
    assert [words.nth(i).get_attribute("aria-label") for i in (1, 4)] == ["2 der: 100\u202f%", "5 die: masked"]


def test_pointing_at_a_key_shades_the_tokens_that_look_at_it(heads: Bench) -> None:
    trace = small_trace()
    heads.mount(trace, kind="cross", layer=1, head=1, view="text", step=3)
    heads(RIGHT).nth(1).hover()
    heads.frame()
    labels = heads(LEFT).evaluate_all("all => all.map((b) => b.ariaLabel)")
    shares = [int(label.split(":")[1].split("\u202f")[0]) for label in labels]
    column = trace.cross[0, 0, :, 1]
    assert shares == [int(100 * weight + 0.5) for weight in column]
    best = int(column.argmax())
    assert f"2 b is looked at by {best + 1} {trace.read_tokens[best]} {shares[best]} %" in heads.text(".caption")
    heads.away()
    assert heads(LEFT).nth(2).get_attribute("aria-pressed") == "true", "the row in view is back"


# Sizes


def test_three_maps_side_by_side_are_readable(heads: Bench) -> None:
    heads.mount(long_trace(), kind="cross", layer=1, head=1, view="head.beside")
    cells = [heads.plot(kind)[2] for kind in ("encoder", "decoder", "cross")]
    assert min(cells) >= 16
    assert len(set(cells)) == 1, "a weight has the same area in all three"
    kinds = "(Encoder self-attention, layer 2", ", decoder self-attention ", ", cross-attention "
    assert all(kind in heads.text(".caption") for kind in kinds), "a sentence for each"
    for kind in ("encoder", "decoder", "cross"):
        room, canvas = (box_of(heads(f"figure.{kind}{part}")) for part in ("", " canvas"))
        assert canvas["x"] + canvas["width"] <= room["x"] + room["width"] + 1


def test_what_a_lesson_leaves_in_view_never_overlaps(heads: Bench) -> None:
    boxes = "[...root.querySelectorAll('.bar, .lead, .reads, .legend')].filter((box) => box.checkVisibility())"
    for left_out in ({"--steps": "none"}, {"--views": "none", "--reads": "block"}):
        heads.mount(long_trace(), kind="cross", layer=1, head=1, width=576)
        heads.page.evaluate("set => Object.entries(set).forEach((pair) => host.style.setProperty(...pair))", left_out)
        heads.frame()
        heads.press("ArrowRight")
        places = heads.page.evaluate(f"{boxes}.map((box) => box.getBoundingClientRect().toJSON())")
        assert len(places) >= 3
        for above, below in pairwise(sorted(places, key=lambda place: place["top"])):
            apart = min(above["right"], below["right"]) <= max(above["left"], below["left"])
            assert apart or above["bottom"] <= below["top"] + 1


# What all views share


def test_presenting_fills_the_screen_in_larger_type_and_the_same_state(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", layer=1, head=2, view="head", step=3)
    caption, cell = heads.text(".caption"), heads.plot("cross")[2]
    heads.click(".options")
    heads.click(".present")
    heads.page.wait_for_function("() => root.fullscreenElement?.matches('.explorer')")
    heads.frame()
    assert heads.text(".present") == "End presentation"
    assert heads.text(".caption") == caption
    assert heads.plot("cross")[2] >= cell
    zoom = heads(".caption").evaluate("element => element.currentCSSZoom")
    wide, high = heads.page.evaluate("() => [innerWidth, innerHeight]")
    assert zoom == pytest.approx(min(wide / 960, high / 540), abs=0.01)
    assert zoom > 1, "all of it is larger"
    point = {side: zoom * place for side, place in heads.point("cross", 1, 3).items()}
    heads("figure.cross canvas").click(position=point)
    expect(heads(".cell")).to_contain_text("key4 the")
    heads.press("Escape")
    heads.click(".options")
    heads.click(".present")
    heads.page.wait_for_function("() => !root.fullscreenElement")


def test_numbers_of_a_kind_are_waited_for(heads: Bench) -> None:
    heads.mount(heads_trace(), kind="cross", kinds=())
    heads(".none:text('Loading')").wait_for()
    heads.carry("cross")
    assert heads.text(".none") == ""
    assert heads(".tile").count() == len(CROSS) + 2
    heads.click(".kinds button[value=encoder]")
    assert "Loading" in heads.text(".none")
    heads.page.wait_for_function("() => calls.some((call) => call.value.wanted.includes('encoder'))")
    heads.carry("encoder")
    assert heads(".tile").count() == len(ENCODER) + 2
