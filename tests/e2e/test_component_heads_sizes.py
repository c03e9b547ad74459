"""The Attention views in a real browser: their sizes, and what all of them share."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from explorer.decoding.names import KIND_TITLES
from tests.browser import box_of
from tests.e2e.bench import Bench
from tests.e2e.heads import long_trace, small_trace
from tests.explorer.planted_heads import CROSS, ENCODER, heads_trace, random_trace

# Sizes


def test_three_maps_side_by_side_are_readable(heads: Bench) -> None:
    heads.mount(long_trace(), kind="cross", layer=1, head=1, view="head.beside")
    cells = [heads.plot(kind)[2] for kind in ("encoder", "decoder", "cross")]
    assert min(cells) >= 16
    assert len(set(cells)) == 1, "a weight has the same area in all three"
    assert all(f"{title}, L" in heads.text(".caption") for title in KIND_TITLES.values()), "a sentence for each"
    for kind in ("encoder", "decoder", "cross"):
        room, canvas = (box_of(heads(f"figure.{kind}{part}")) for part in ("", " canvas"))
        assert canvas["x"] + canvas["width"] <= room["x"] + room["width"] + 1


def test_what_a_lesson_leaves_in_view_never_overlaps_and_points_to_no_missing_button(heads: Bench) -> None:
    boxes = "[...root.querySelectorAll('.bar, .lead, .reads, .legend')].filter((box) => box.checkVisibility())"
    for left_out in ({"--steps": "none"}, {"--views": "none", "--reads": "block"}):
        heads.mount(long_trace(), kind="cross", layer=1, head=1, width=576)
        assert "▸ above" in heads.text(".under-views")
        heads.page.evaluate("set => Object.entries(set).forEach((pair) => host.style.setProperty(...pair))", left_out)
        heads.frame()
        heads.press("ArrowRight")
        places = heads.page.evaluate(f"{boxes}.map((box) => box.getBoundingClientRect().toJSON())")
        assert len(places) >= 3
        for above, below in pairwise(sorted(places, key=lambda place: place["top"])):
            apart = min(above["right"], below["right"]) <= max(above["left"], below["left"])
            assert apart or above["bottom"] <= below["top"] + 1
        assert heads(".walk").is_visible() or "▸ above" not in heads.text(".under-views")


# What all views share


def test_what_is_reported_reopens_the_same_view(heads: Bench) -> None:
    view = "lines.next.steps.log.cividis.by-keys.most-20.mass-60.h-0-2"

    def drawn() -> tuple[str | None, str]:
        return heads(".body canvas").get_attribute("data-lines"), heads.text(".caption")

    heads.mount(small_trace(), kind="decoder", layer=3, head=2, view=view)
    heads.click(".left .end:nth-child(2)")
    report, before = heads.report(), drawn()
    assert heads.reported_view() == view
    place = {name: report[name] for name in ("kind", "layer", "head", "step")}
    heads.mount(small_trace(), **place, view=view)
    assert drawn() == before


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
    heads.click(".options")
    heads.click(".present")
    heads.page.wait_for_function("() => !root.fullscreenElement")


def test_words_put_subwords_together(heads: Bench) -> None:
    trace = random_trace(["un", "break", "able", "cups", "<eos>"], ["<sos>", "un", "zerbrech", "lich", "tassen"])
    trace = dataclasses.replace(trace, src_words=(0, 0, 0, 1, -1), tgt_words=(-1, 0, 0, 0, 1))
    heads.mount(trace, kind="cross", layer=1, head=1, view="head", step=3)
    assert heads.plot("cross")[3:] == (5, 5)
    heads.click(".options")
    heads("input[name=words]").check()
    heads.frame()
    assert heads.plot("cross")[3:] == (3, 3)
    share = trace.cross[0, 0, 1:4, :3].astype(float).sum(axis=-1).mean()
    heads.open_table()
    assert f"1 unbreakable {share:.4f}" in heads.text("tbody")
    assert "reads 2 unzerbrechlich → predicts tassen" in heads.text(".caption")
    assert heads.text(".reads") == "reads 2 unzerbrechlich → predicts tassen"
    heads.choose("next", "next")
    assert "reads 1 <sos> → predicts unzerbrechlich" in heads.text(".caption")
    heads.press("ArrowRight")
    assert "reads 2 unzerbrechlich → predicts tassen" in heads.text(".caption")


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
