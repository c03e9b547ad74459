"""Lines, the sentence, and what all Attention views share in a real browser: the place, words, any text and length."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.e2e.heads_bench import HeadsBench
from tests.explorer.planted_heads import heads_trace, random_trace


@pytest.fixture
def bench(page: Page) -> HeadsBench:
    return HeadsBench(page)


# Lines


def test_hovering_a_token_shows_its_lines_only(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1, view="lines", step=6)
    canvas = bench(".body canvas")
    assert canvas.get_attribute("data-lines") == "6", "the diagonal head: one line a row"
    bench(".left .end").nth(2).hover()
    bench.frame()
    assert canvas.get_attribute("data-lines") == "1"
    assert "reads 3 hund → predicts sah looks at 3 saw 100 %" in bench.text(".caption")
    bench(".right .end").nth(4).focus()
    bench.frame()
    assert canvas.get_attribute("data-lines") == "1"
    bench(".right .end").nth(4).blur()
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert canvas.get_attribute("data-lines") == "6"


def test_lines_of_several_heads_and_the_share_that_they_hold(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "c", "d", "<eos>"], ["<sos>", "x", "y"])
    bench.mount(trace, kind="cross", layer=2, head=1, view="lines", step=3)

    def expected(mass: float, *heads: int) -> int:
        rows = [np.sort(row.astype(float))[::-1] for head in heads for row in trace.cross[1, head - 1]]
        return sum(int(np.searchsorted(np.cumsum(row), mass - 1e-6)) + 1 for row in rows)

    canvas = bench(".body canvas")
    assert canvas.get_attribute("data-lines") == str(expected(0.8, 1))
    assert f"{expected(0.8, 1)} of 15 lines hold 80 % of each row's weight." in bench.text(".caption")
    bench.click(".headpick:has-text('H2')")
    assert canvas.get_attribute("data-lines") == str(expected(0.8, 1, 2))
    assert "L2 H2:" in bench.text(".caption")
    bench(".mass input").fill("50")
    bench.frame()
    assert canvas.get_attribute("data-lines") == str(expected(0.5, 1, 2))
    bench.page.wait_for_timeout(400)
    assert bench.reported_view() == "lines.mass-50.h-1-2"
    bench.open_table()
    assert bench.text("thead") == "key ↑ H1 H2" or bench.text("thead") == "key H1 H2"
    assert f"{trace.cross[1, 1, 2, 3]:.4f}" in bench.text("tbody")


# The sentence


def test_the_sentence_is_shaded_by_what_a_token_attends_to(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=2, view="text", step=2)
    words = bench(".strip > div:last-child .word")
    assert words.all_inner_texts()[3].split() == ["the", "100", "%"]
    bench(".strip > div:first-child .word").nth(3).click()
    bench.frame()
    assert words.nth(1).inner_text().split() == ["cat", "100", "%"]
    dark = "element => getComputedStyle(element).backgroundColor"
    assert words.nth(1).evaluate(dark) != words.nth(3).evaluate(dark)
    assert bench.text(".walk output") == "step 4 of 6"


def test_a_token_of_self_attention_shades_its_own_sentence(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="decoder", layer=1, head=2, view="text", step=3)
    words = bench(".strip > div:last-child .word")
    assert bench(".strip > div:first-child .word").nth(2).get_attribute("aria-pressed") == "true"
    assert words.nth(1).get_attribute("aria-label") == "2 der: 100\u202f%"
    assert words.nth(4).get_attribute("aria-label") == "5 die: masked"


def test_pointing_at_a_key_shades_the_tokens_that_look_at_it(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"])
    bench.mount(trace, kind="cross", layer=1, head=1, view="text", step=3)
    bench(".strip > div:last-child .word").nth(1).hover()
    bench.frame()
    column = trace.cross[0, 0, :, 1]
    above = bench(".strip > div:first-child .word")
    shares = [
        int(text.split(":")[1].split("\u202f")[0]) for text in above.evaluate_all("all => all.map((b) => b.ariaLabel)")
    ]
    assert shares == [int(100 * weight + 0.5) for weight in column]
    best = int(column.argmax())
    assert f"2 b is looked at by {best + 1} {trace.read_tokens[best]} {shares[best]} %" in bench.text(".caption")
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert above.nth(2).get_attribute("aria-pressed") == "true", "the row in view is back"


@pytest.mark.parametrize(("view", "tokens"), [("lines", ".right .end"), ("text", ".strip > div:last-child .word")])
def test_several_heads_are_shown_at_once_in_their_colours(bench: HeadsBench, view: str, tokens: str) -> None:
    trace = random_trace(["a", "b", "<eos>"], ["<sos>", "x"], heads=(2, 3))
    bench.mount(trace, kind="cross", layer=1, head=1, view=view, step=2)
    bench.click(".headpick:has-text('all')")
    assert [b == "true" for b in bench(".headpick").evaluate_all("all => all.map((b) => b.ariaPressed)")][:4] == [
        True,
        True,
        True,
        False,
    ]
    for head in (1, 2, 3):
        assert f"L1 H{head}:" in bench.text(".caption")
    bench.page.wait_for_timeout(400)
    assert bench.reported_view() == f"{view}.h-1-2-3"
    if view == "text":
        heights = bench(f"{tokens}:first-child .shares i").evaluate_all(
            "all => all.map((bar) => parseInt(bar.style.height))"
        )
        assert heights == [int(20 * weight + 0.5) for weight in trace.cross[0, :, 1, 0]]
    else:
        assert bench(tokens).first.evaluate("b => b.style.background").count("color-mix") >= 3


def test_long_columns_scroll_to_what_is_looked_at(bench: HeadsBench) -> None:
    source = [*(f"w{i}" for i in range(79)), "<eos>"]
    trace = random_trace(source, ["<sos>", *("v" for _ in range(59))])
    trace.cross[:] = 0.0
    for query in range(60):
        trace.cross[:, :, query, 79 - query] = 1.0
    bench.mount(trace, kind="cross", layer=1, head=1, view="lines", step=60)

    def in_view(tokens: str, at: int) -> bool:
        seen, own = bench(tokens.split()[0]).bounding_box(), bench(tokens).nth(at).bounding_box()
        return bool(seen["y"] <= own["y"] and own["y"] + own["height"] <= seen["y"] + seen["height"] + 1)

    assert in_view(".left .end", 59)
    assert in_view(".right .end", 20)
    assert not in_view(".right .end", 79)
    bench.press("Home")
    assert in_view(".left .end", 0)
    assert in_view(".right .end", 79)


# Sizes


def test_a_head_is_equally_large_however_one_gets_there(bench: HeadsBench) -> None:
    trace = random_trace([*"abcdefgh", "<eos>"], ["<sos>", *"xyzuv"])
    bench.mount(trace, kind="cross", layer=1, head=1, view="head")
    size = bench.plot("cross")
    for view in ("lines", "text", "heads"):
        bench.mount(trace, kind="cross", layer=1, head=1, view=view)
        bench.click(".views button[value=head]")
        assert bench.plot("cross") == size, f"from {view}"
        bench.click(f".views button[value={view}]")
        bench.click(".views button[value=head]")
        assert bench.plot("cross") == size, f"to {view} and back"


def test_three_maps_side_by_side_are_readable(bench: HeadsBench) -> None:
    trace = random_trace([*"abcdefgh", "<eos>"], ["<sos>", *"xyzuv"])
    bench.mount(trace, kind="cross", layer=1, head=1, view="head.beside")
    cells = [bench.plot(kind)[2] for kind in ("encoder", "decoder", "cross")]
    assert min(cells) >= 16
    assert len(set(cells)) == 1, "a weight has the same area in all three"
    for kind in ("encoder", "decoder", "cross"):
        room, canvas = bench(f"figure.{kind}").bounding_box(), bench(f"figure.{kind} canvas").bounding_box()
        assert canvas["x"] + canvas["width"] <= room["x"] + room["width"] + 1


def test_all_heads_fill_the_width_and_leave_the_caption_in_sight(bench: HeadsBench) -> None:
    trace = random_trace([*"abcdefghijk", "<eos>"], ["<sos>", *"xyzuvwrst"], layers=(4, 4), heads=(4, 4))
    bench.mount(trace, kind="cross", layer=1, head=1)
    tiles = [tile.bounding_box() for tile in bench(".tile").all()]
    grid = bench(".tiles").bounding_box()
    assert max(tile["x"] + tile["width"] for tile in tiles) - grid["x"] > 0.9 * grid["width"]
    assert bench(".tile i").first.bounding_box()["height"] > 75
    caption = bench(".caption").bounding_box()
    assert caption["y"] + caption["height"] < 768


def test_what_a_lesson_leaves_in_view_never_overlaps_and_points_to_no_missing_button(bench: HeadsBench) -> None:
    trace = random_trace([*"abcdefgh", "<eos>"], ["<sos>", *"xyzuv"])
    boxes = "[...root.querySelectorAll('.bar, .lead p, .reads, .legend')].filter((box) => box.checkVisibility())"
    for left_out in ({"--steps": "none"}, {"--views": "none", "--reads": "block"}):
        bench.mount(trace, kind="cross", layer=1, head=1, width=576)
        assert "▸ above" in bench.text(".lead")
        bench.page.evaluate("set => Object.entries(set).forEach((pair) => host.style.setProperty(...pair))", left_out)
        bench.frame()
        bench.press("ArrowRight")
        places = bench.page.evaluate(f"{boxes}.map((box) => box.getBoundingClientRect().toJSON())")
        assert len(places) >= 3
        for above, below in pairwise(sorted(places, key=lambda place: place["top"])):
            assert above["bottom"] <= below["top"] + 1
        assert bench(".walk").is_visible() or "▸ above" not in bench.text(".lead")


# What all views share


def test_a_choice_in_one_view_is_the_choice_of_all(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1)
    bench.click('.tile[value="cross 1 2"]')
    bench("figure.cross canvas").click(position=bench.point("cross", 1, 3))
    for view in ("lines", "text"):
        bench.click(f".views button[value={view}]")
        assert bench.text(".caption").startswith("L1 H2: reads 2 der → predicts hund looks at 4 the 100 %.")
        assert "key 4 the weight 1.0000" in bench.text(".cell")
    bench.click(".strip > div:first-child .word:nth-child(5)")
    bench.click(".views button[value=heads]")
    assert bench('.tile[value="cross 1 2"]').get_attribute("aria-pressed") == "true"
    assert bench.text(".walk output") == "step 5 of 6"


def test_what_is_reported_reopens_the_same_view(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"])
    view = "lines.next.steps.log.cividis.by-keys.most-20.mass-60.h-0-2"
    bench.mount(trace, kind="decoder", layer=3, head=2, view=view)
    bench.click(".left .end:nth-child(2)")
    bench.page.wait_for_timeout(400)
    at = bench.calls()[-1]["value"]
    assert bench.reported_view() == view
    drawn, caption = bench(".body canvas").get_attribute("data-lines"), bench.text(".caption")
    bench.mount(trace, kind=at["kind"], layer=at["layer"], head=at["head"], step=at["step"], view=view)
    assert (bench(".body canvas").get_attribute("data-lines"), bench.text(".caption")) == (drawn, caption)


def test_presenting_fills_the_screen_in_larger_type_and_the_same_state(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=2, view="head", step=3)
    before = (bench.text(".caption"), bench.plot("cross")[2])
    bench.click(".options")
    bench.click(".present")
    bench.page.wait_for_function("() => root.fullscreenElement?.matches('.explorer')")
    bench.frame()
    assert bench.text(".present") == "End presentation"
    assert bench.text(".caption") == before[0]
    assert bench.plot("cross")[2] >= before[1]
    zoom = bench(".caption").evaluate("element => element.currentCSSZoom")
    wide, high = bench.page.evaluate("() => [innerWidth, innerHeight]")
    assert zoom == pytest.approx(min(wide / 1000, high / 600), abs=0.01)
    assert zoom > 1, "all of it is larger"
    bench.click(".options")
    bench.click(".present")
    bench.page.wait_for_function("() => !root.fullscreenElement")


def test_words_put_subwords_together(bench: HeadsBench) -> None:
    trace = random_trace(["un", "break", "able", "cups", "<eos>"], ["<sos>", "un", "zerbrech", "lich", "tassen"])
    trace = dataclasses.replace(trace, src_words=(0, 0, 0, 1, -1), tgt_words=(-1, 0, 0, 0, 1))
    bench.mount(trace, kind="cross", layer=1, head=1, view="head", step=3)
    assert bench.plot("cross")[3:] == (5, 5)
    bench.click(".options")
    bench("input[name=words]").check()
    bench.frame()
    assert bench.plot("cross")[3:] == (3, 3)
    share = trace.cross[0, 0, 1:4, :3].astype(float).sum(axis=-1).mean()
    bench.open_table()
    assert f"1 unbreakable {share:.4f}" in bench.text("tbody")
    assert "reads 2 unzerbrechlich" in bench.text(".caption")


NASTY = [
    "<img src=x onerror=alert(1)>",
    "</script>",
    "مرحبا",
    "日本語",
    "👩‍👩‍👧",
    "\u202eevil",
    "the",
    "the",
    "a" * 300,
    "<eos>",
]


@pytest.mark.parametrize("width", [1000, 358])
@pytest.mark.parametrize("view", ["heads", "head", "lines", "text", "heads.beside", "head.beside"])
def test_tokens_are_only_ever_text(bench: HeadsBench, view: str, width: int) -> None:
    bench.page.set_viewport_size({"width": width + 32, "height": 768})
    trace = random_trace(NASTY, ["<sos>", *NASTY[:6]], layers=(1, 2), heads=(3, 2))
    for kind in ("encoder", "decoder", "cross"):
        bench.mount(trace, kind=kind, layer=1, head=1, view=view, step=4, width=width)
        bench.open_table()
        assert bench("img, script").count() == 0
        assert view.startswith("heads") or "alert(1)" in bench.text("tbody") + bench.text(".caption")
        if view in ("lines", "text"):
            assert "U+202Eevil" in bench.text(f".{'lines' if view == 'lines' else 'strip'}")
        scroll, client = bench.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert scroll <= client, "the page itself never scrolls sideways"


@pytest.mark.parametrize(("n_src", "n_tgt"), [(1, 1), (1, 4), (100, 1), (100, 100)])
def test_any_length_is_drawn(bench: HeadsBench, n_src: int, n_tgt: int) -> None:
    source = [f"w{i}" for i in range(n_src - 1)] + ["<eos>"]
    trace = random_trace(source, ["<sos>"] + ["v"] * (n_tgt - 1), layers=(1, 2), heads=(3, 5))
    for view in ("heads", "head", "lines", "text"):
        for kind, rows, columns in (("encoder", n_src, n_src), ("decoder", n_tgt, n_tgt), ("cross", n_tgt, n_src)):
            bench.mount(trace, kind=kind, layer=1, head=1, view=view)
            if view == "heads":
                assert bench(".tile").count() == (4 if kind == "encoder" else 12)
            elif view == "head":
                assert bench.plot(kind)[3:] == (rows, columns)
            elif view == "lines":
                assert (bench(".left .end").count(), bench(".right .end").count()) == (rows, columns)
            else:
                assert bench(".strip > div:last-child .word").count() == columns


def test_twelve_layers_of_twelve_heads_and_128_tokens_are_drawn(bench: HeadsBench) -> None:
    trace = random_trace([*(f"w{i}" for i in range(127)), "<eos>"], ["<sos>"], layers=(12, 1), heads=(12, 1))
    trace.encoder[11, 4] = np.eye(128)
    bench.mount(trace, kind="encoder", kinds=("encoder",))
    assert bench(".tile").count() == 12 * 13, "the heads, and the mean of each layer"
    head = '.tile[value="encoder 12 5"]'
    assert "1.0 keys, itself 100" in (bench(head).get_attribute("aria-label") or "")
    for x in (0.15, 0.4, 0.6, 0.85):
        on, off = bench.in_thumbnail(head, (x, x), (x, 1.1 - x))
        assert sum(on[:3]) < sum(off[:3]) - 60


def test_an_encoder_alone_has_no_steps_and_no_other_kind(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "<eos>"], ["<sos>"])
    empty = {kind: np.zeros((0, 0, *getattr(trace, kind).shape[2:]), dtype=np.float32) for kind in ("decoder", "cross")}
    bench.mount(dataclasses.replace(trace, **empty), view="head")
    assert bench(".kinds button:visible").all_inner_texts() == ["Encoder"]
    assert not bench(".walk").is_visible()
    assert bench.plot("encoder")[3:] == (3, 3)
