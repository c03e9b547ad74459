"""The Attention views in a real browser: planted heads are drawn correctly, and texts say what the figures show."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.decoding.attention_maps import attention_maps
from tests.e2e.heads_bench import HeadsBench
from tests.e2e.stepper_bench import theme
from tests.explorer.planted_heads import CROSS, DECODER, ENCODER, heads_trace, random_trace

N = 6  # tokens on either side of the planted heads


@pytest.fixture
def bench(page: Page) -> HeadsBench:
    return HeadsBench(page)


# All heads


@pytest.mark.parametrize(("kind", "roles"), [("encoder", ENCODER), ("decoder", DECODER), ("cross", CROSS)])
def test_thumbnails_are_the_planted_heads_with_their_role(bench: HeadsBench, kind: str, roles: dict) -> None:
    bench.mount(heads_trace(), kind=kind)
    for head, (name, place) in enumerate(roles.items(), start=1):
        painted = bench.thumbnail(f"Layer 1, head {head}:", N, N)
        for query in range(1, N - 1):  # the rows in view have marks at either end
            row = painted[query]
            assert int(np.argmin(row)) == place(query, N, N), f"head {head}, row {query}: {row}"
        label = bench(f'.tile[value="{kind} 1 {head}"]').get_attribute("aria-label")
        assert label == f"Layer 1, head {head}: 1.0 keys, {name} 100\u202f%"
    assert bench(f'.tile[value="{kind} 1 {len(roles) + 1}"] .mixed').count() == 1
    assert bench(".tile").count() == len(roles) + 2, "the heads and their mean"


def test_the_head_that_is_pointed_at_is_large_and_said_in_words(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1, step=3)
    mirror = [[CROSS["mirror"](query, N, N)] for query in range(N)]
    bench('.tile[value="cross 1 2"]').hover()
    expect(bench("figure.cross figcaption")).to_contain_text("layer 1 · head 2")
    assert [[int(np.argmin(row))] for row in bench.map("cross")] == mirror
    assert bench.text(".lead p:first-child").startswith(
        "To write sah, having read 3 hund, layer 1 (head 2) looks at 3 saw 100 %"
    )
    assert "100 % of its weight is on the mirrored diagonal" in bench.text(".tells")
    bench.page.mouse.move(0, 0)
    expect(bench("figure.cross figcaption")).to_contain_text("layer 1 · head 1")
    bench("figure.cross canvas").click(position=bench.point("cross", 1, 3))
    expect(bench(".explorer")).to_have_attribute("data-view", "head")
    expect(bench(".cell")).to_contain_text("4 the")


def test_masked_thumbnails_are_grey_and_zero_is_not(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="decoder", step=3)
    masked, zero = bench.in_thumbnail('.tile[value="decoder 1 1"]', (3.5 / N, 1.5 / N), (0.5 / N, 4.5 / N))
    assert max(masked[:3]) - min(masked[:3]) <= 3
    assert max(abs(a - b) for a, b in zip(masked, zero, strict=True)) > 8


def test_sorting_and_filtering_by_the_numbers(bench: HeadsBench) -> None:
    bench.mount(random_trace(["a", "b", "c", "d", "<eos>"], ["<sos>", "x", "y"]))

    def shown() -> list[str]:
        return bench(".tile b").all_inner_texts()

    assert shown()[:3] == ["L1 H1", "L1 H2", "L1 mean"]
    bench.choose("by", "keys")
    keys = [float(text.split()[0]) for text in bench(".tile small:nth-of-type(1)").all_inner_texts()]
    assert keys == sorted(keys)
    assert len(keys) == 6
    bench.choose("by", "first")
    bench.open_table()
    bench.click("th:has-text('first') button")
    table = [row.split("\t") for row in bench("tbody tr").all_inner_texts()]
    assert [f"L{row[0]} H{row[1]}" for row in table] == shown(), "table and grid agree on the order"
    bench.choose("most", "1.5")
    few = int((attention_maps(bench.decoding.trace, "cross").effective <= 1.5).sum())
    assert bench(".tile").count() == few
    assert (f"{few} of 6 heads" in bench.text(".caption")) == (few < 6)


def test_filters_that_no_head_passes_leave_a_message(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", view="heads.role-previous")
    assert bench.text(".none") == "No head passes the filters."
    assert bench(".tile").count() == 0
    bench.choose("role", "mirror")
    painted = bench.thumbnail("Layer 1, head 2:", N, N)
    assert [int(np.argmin(row)) for row in painted[1:5]] == [CROSS["mirror"](query, N, N) for query in range(1, 5)]


def test_grid_to_head_to_cell_by_keyboard(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", head=1, layer=1, step=6)
    bench('.tile[value="cross 1 1"]').focus()
    bench.press("ArrowRight", "ArrowRight", "ArrowLeft", "Enter")
    assert bench(".explorer").get_attribute("data-view") == "head"
    assert "layer 1 · head 2" in bench.text("figure.cross figcaption")
    bench("figure.cross canvas").focus()
    bench.press("ArrowUp")  # the first arrow shows the cursor on the row's heaviest cell
    bench.press("ArrowUp", "ArrowUp")
    # The mirror head: row 4 of 6 looks at key 5 - 4 + 1.
    assert "query reads 4 sah → predicts die" in bench.text(".cell")
    bench.press("Home", "ArrowRight")
    assert "key 2 cat weight 1.0000 rank 1 of 6" in bench.text(".cell")
    assert "uniform would be 0.1667 for each of 6 keys" in bench.text(".cell")
    bench.page.wait_for_timeout(400)
    said = bench.calls()[-1]
    assert said["name"] == "at"
    where = {name: said["value"][name] for name in ("kind", "layer", "head", "step", "column")}
    assert where == {"kind": "cross", "layer": 1, "head": 2, "step": 4, "column": 2}
    assert bench.reported_view() == "head"


def test_arrows_go_up_and_down_between_layers(bench: HeadsBench) -> None:
    bench.mount(random_trace(["a", "<eos>"], ["<sos>", "x"]), kind="cross", layer=1, head=2)
    bench('.tile[value="cross 1 2"]').focus()
    for key, expected in (
        ("ArrowDown", "cross 2 2"),
        ("End", "cross 3 0"),
        ("ArrowUp", "cross 2 0"),
        ("Home", "cross 1 1"),
    ):
        bench.press(key)
        assert bench.page.evaluate("() => root.activeElement.value") == expected
    assert bench(".tile[tabindex='0']").count() == 1, "one stop for the Tab key"


# One head


@pytest.mark.parametrize(("kind", "roles"), [("encoder", ENCODER), ("decoder", DECODER), ("cross", CROSS)])
def test_rows_are_queries_from_the_top_and_columns_are_keys(bench: HeadsBench, kind: str, roles: dict) -> None:
    for head, place in enumerate(roles.values(), start=1):
        bench.mount(heads_trace(), kind=kind, layer=1, head=head, view="head")
        painted = bench.map(kind)
        assert np.shape(painted) == (N, N)
        for query, row in enumerate(painted):
            assert int(np.argmin(row)) == place(query, N, N)


def test_labels_stand_at_their_rows_and_columns_and_axes_are_named(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1, view="head", step=1)
    bench.listen()
    bench.click('.tile[value="cross 1 2"]')
    places = bench.written()
    left, top, cell, rows, columns = bench.plot("cross")
    assert (rows, columns) == (N, N)
    for key, name in enumerate(("1 the", "2 cat", "3 saw", "4 the", "5 dog", "6 <eos>")):
        assert places[name][0] == pytest.approx(left + (key + 0.5) * cell, abs=1)
        assert places[name][1] < top
    for query, (reads, predicts) in enumerate(zip(("1 <sos>", "2 der", "3 hund"), ("der", "hund", "sah"), strict=True)):
        assert places[reads][1] == pytest.approx(top + (query + 0.5) * cell, abs=1)
        assert places[reads][0] < left
        assert places[f"→ {predicts}"][1] == pytest.approx(places[reads][1], abs=1)
        assert places[f"→ {predicts}"][0] > left + columns * cell
    assert {"source (key)", "decoder reads (query)"} <= places.keys()


def test_aligning_to_the_predicted_word_moves_the_labels_by_one_row(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1, view="head", step=1)
    bench.listen()
    bench.choose("next", "next")
    places = bench.written()
    _, top, cell, *_ = bench.plot("cross")
    assert "decoder predicts (query)" in places
    assert places["1 der"][1] == pytest.approx(top + 0.5 * cell, abs=1)
    assert places["after <sos>"][1] == pytest.approx(top + 0.5 * cell, abs=1)
    assert places["6 <eos>"][1] < top, "the last row predicts <eos>; the column of that name stands above"
    assert places["after katze"][1] == pytest.approx(top + 5.5 * cell, abs=1)


def test_hover_shows_and_a_click_chooses_a_cell(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"])
    bench.mount(trace, kind="cross", layer=2, head=1, view="head", step=3)
    weights = trace.cross[1, 0]
    bench("figure.cross canvas").hover(position=bench.point("cross", 0, 2))
    bench.frame()
    rank = int((weights[0] > weights[0, 2]).sum()) + 1
    entropy = -(weights[0].astype(float) * np.log(weights[0].astype(float))).sum()
    read = bench.text(".cell")
    assert f"query reads 1 <sos> → predicts x key 3 c weight {weights[0, 2]:.4f} rank {rank} of 4" in read
    assert f"row looks at {np.exp(entropy):.2f} keys (entropy {entropy:.3f} nats)" in read
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert "weight" not in bench.text(".cell")
    bench("figure.cross canvas").click(position=bench.point("cross", 1, 3))
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert f"key 4 <eos> weight {weights[1, 3]:.4f}" in bench.text(".cell")
    assert bench.text(".walk output") == "step 2 of 3", "the row of a cell is the step of all views"
    bench.press("Escape")
    assert "weight" not in bench.text(".cell")


def test_masked_cells_say_why(bench: HeadsBench) -> None:
    trace = heads_trace()
    trace.encoder_mask[:, 5] = 2
    trace.encoder[..., 5] = 0
    for kind, query, key, reason in (("decoder", 1, 3, "future"), ("encoder", 2, 5, "padding")):
        bench.mount(trace, kind=kind, layer=1, head=1, view="head")
        red, green, blue, _ = bench.colour(kind, query, key)
        assert max(red, green, blue) - min(red, green, blue) <= 3
        bench(f"figure.{kind} canvas").click(position=bench.point(kind, query, key))
        bench.frame()
        assert f"masked ({reason})" in bench.text(".cell")
        bench.open_table()
        assert f"masked: {reason}" in bench.text("tbody")


@pytest.mark.parametrize("dark", [False, True])
def test_scales_and_palettes(bench: HeadsBench, dark: bool) -> None:
    trace = heads_trace()
    trace.cross[0, 0] = 0.25 * trace.cross[0, 0] + 0.125  # two weights: 0.375 and 0.125
    bench.mount(trace, dark=dark, kind="cross", layer=1, head=1, view="head", step=6)
    stops = theme("dark" if dark else "light")["--st-chart-sequential-colors"].split(",")
    last = tuple(bytes.fromhex(stops[-1].strip(" #")))
    assert bench.colour("cross", 1, 1)[:3] != last
    assert [bench.text(".ramp span:first-child"), bench.text(".ramp span:last-child")] == ["0", "1"]
    bench.choose("scale", "max")
    assert bench.colour("cross", 1, 1)[:3] == last
    assert bench.text(".ramp span:last-child") == "0.375"
    bench.choose("scale", "log")
    assert bench.text(".ramp span:first-child") == "≤ 0.0001"
    teal = bench.colour("cross", 1, 1)
    bench.choose("palette", "cividis")
    assert bench.colour("cross", 1, 1) != teal


def test_brushing_rows_and_columns(bench: HeadsBench) -> None:
    trace = random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"])
    bench.mount(trace, kind="cross", layer=1, head=1, view="head", step=1)
    canvas = bench("figure.cross canvas")
    box, start, end = canvas.bounding_box(), bench.point("cross", 0, 1), bench.point("cross", 1, 2)
    before = bench.colour("cross", 2, 3)
    bench.page.mouse.move(box["x"] + start["x"], box["y"] + start["y"])
    bench.page.mouse.down()
    bench.page.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=4)
    bench.page.mouse.up()
    bench.frame()
    mean = trace.cross[0, 0, :2, 1:3].astype(float).sum(axis=-1).mean()
    assert f"rows 1–2 put {100 * mean:.1f} % of their weight on columns 2–3" in bench.text(".cell")
    assert bench.colour("cross", 2, 3) != before, "cells outside the selection are faded"
    bench.press("Escape")
    assert "put" not in bench.text(".cell")
    canvas.focus()
    bench.press("Shift+ArrowDown")
    assert "rows 1–2 put" in bench.text(".cell")


def test_only_up_to_this_step_leaves_later_rows_out(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", layer=1, head=1, view="head.steps", step=2)
    assert bench.plot("cross")[3] == 2
    bench.page.locator("body").press("ArrowRight")
    bench.frame()
    assert bench.plot("cross")[3] == 3
    bench.click(".options")
    bench("input[name=steps]").uncheck()
    bench.frame()
    assert bench.plot("cross")[3] == N


# Large models: kinds come when they are needed


def test_another_kind_loads_when_it_is_opened(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kinds=("cross",))
    bench.click(".kinds button[value=encoder]")
    assert "Loading" in bench.text(".none")
    bench.page.wait_for_function("() => calls.some((call) => call.value.wanted.includes('encoder'))")
    bench.carry("encoder")
    assert bench(".tile").count() == len(ENCODER) + 2


def test_numbers_that_come_late_are_waited_for(bench: HeadsBench) -> None:
    bench.mount(heads_trace(), kind="cross", kinds=())
    bench(".none:text('Loading')").wait_for()
    bench.carry("cross")
    assert bench.text(".none") == ""
    assert bench(".tile").count() == len(CROSS) + 2
