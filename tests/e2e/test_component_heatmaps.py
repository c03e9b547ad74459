"""The stepper's figures in a real browser: planted weights, masks and any text are drawn correctly."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.e2e.stepper_bench import Bench, theme
from tests.explorer.planted import planted_trace, planted_view


@pytest.fixture
def bench(page: Page) -> Bench:
    return Bench(page)


def test_rows_are_queries_from_the_top_and_columns_are_keys(bench: Bench) -> None:
    bench.mount(planted_view(step=5, layer=1, head=2))
    # Decoder heads look one token back; this cross head one source token to the right of its own place.
    for kind, key in (("decoder", lambda q: max(q - 1, 0)), ("cross", lambda q: (q + 1) % 5)):
        for query, row in enumerate(bench.painted(kind)):
            assert int(np.argmin(row)) == key(query), f"{kind} row {query}: {row}"


@pytest.mark.parametrize("dark", [False, True])
def test_weights_are_on_the_scale_from_zero_to_one(bench: Bench, dark: bool) -> None:
    bench.mount(planted_view(layer=1, head=1), dark=dark)
    stops = theme("dark" if dark else "light")["--st-chart-sequential-colors"].split(",")
    expected = [tuple(bytes.fromhex(stop.strip(" #"))) for stop in (stops[0], stops[-1])]
    assert [bench.colour("cross", 0, key)[:3] for key in (3, 0)] == expected
    assert [part.strip() for part in bench.text(".ramp").split()] == ["0", "1"]


def test_labels_stand_at_their_rows_and_columns(bench: Bench) -> None:
    bench.mount(planted_view(planted_trace(("the", "cat", "the", "<eos>"), ("<sos>", "x", "y"))))
    bench.listen()
    bench.press("End")
    written = [
        (text.strip("\u2068\u2069").replace("\u2068", ""), x, y) for f, text, x, y in bench.written() if f == "cross"
    ]
    left, top, cell, rows, columns = bench.plot("cross")
    places = {text: (x, y) for text, x, y in written}
    assert places["1 the"][0] < places["2 cat"][0] < places["3 the"][0]
    for key, name in enumerate(("1 the", "2 cat", "3 the", "4 <eos>")):
        assert places[name][0] == pytest.approx(left + (key + 0.5) * cell, abs=1)
        assert places[name][1] < top
    for query, name in enumerate(("1 <sos>", "2 x", "3 y")):
        assert places[name][1] == pytest.approx(top + (query + 0.5) * cell, abs=1)
        assert places[name][0] < left
    assert places["decoder reads (query)"][0] < left
    assert places["source (key)"][1] < top
    assert (rows, columns) == (3, 4)


def test_rows_after_the_frontier_are_absent_and_future_keys_have_no_name_yet(bench: Bench) -> None:
    bench.mount(planted_view(step=1))
    bench.listen()
    bench.press("ArrowRight")
    assert np.isnan(bench.painted("cross")[2:]).all()
    assert not np.isnan(bench.painted("cross")[:2]).any()
    names = {text.replace("\u2068", "").replace("\u2069", "") for f, text, *_ in bench.written() if f == "decoder"}
    assert {"1 <sos>", "2 je"} <= names
    assert not {"3 lis", "4 livres"} & names
    assert not np.isnan(bench.painted("encoder")).any()  # the source is known from the first step on


def test_masked_cells_are_off_the_scale_and_say_why(bench: Bench) -> None:
    trace = planted_trace()
    trace.encoder_mask[:, 4] = 2
    trace.encoder[..., 4] = 0
    bench.mount(planted_view(trace, step=3, layer=1, head=1))
    for kind, query, key, reason in (("decoder", 1, 3, "future"), ("encoder", 2, 4, "padding")):
        red, green, blue, _ = bench.colour(kind, query, key)
        assert max(red, green, blue) - min(red, green, blue) <= 3, "masked is grey"
        zero = bench.colour("cross", 0, 3)
        assert max(abs(a - b) for a, b in zip((red, green, blue), zero, strict=False)) > 8, "masked is not weight 0"
        bench(f"figure.{kind} canvas").hover(position=bench.point(kind, query, key))
        bench.frame()
        assert f"masked ({reason})" in bench.text(f"figure.{kind} .readout")


def test_the_mean_over_heads_is_the_mean(bench: Bench) -> None:
    bench.mount(planted_view(step=5, layer=1, head=0))
    bench(".cross canvas").click(position=bench.point("cross", 2, 3))
    bench.frame()
    assert "0.500 · rank 1 of 5" in bench.text(".cross .readout")


def test_a_click_locks_a_cell_and_a_second_click_unlocks_it(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))
    canvas = bench(".cross canvas")
    canvas.click(position=bench.point("cross", 1, 1))
    canvas.hover(position=bench.point("cross", 0, 0))
    bench.frame()
    readout = bench.text(".cross .readout")
    assert "query 2 je → lis" in readout
    assert "key 2 read" in readout
    assert "1.000 · rank 1 of 5" in readout
    assert bench.text(".cross p") == "2 je → lis looks at 2 read 100 %."
    assert bench(".source .touched").count() == bench(".target .touched").count() == 1
    canvas.click(position=bench.point("cross", 1, 1))
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert bench.text(".cross .readout") == ""
    canvas.click(position=bench.point("cross", 1, 1))
    bench("summary").focus()
    bench.frame()
    assert bench.text(".cross .readout") != ""
    bench.press("Escape")
    assert bench.text(".cross .readout") == ""


def test_arrows_inside_a_heatmap_move_the_cell_and_escape_leaves(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))
    bench(".cross canvas").focus()
    bench.press("ArrowLeft")  # the first key shows the cursor on the row's heaviest cell
    assert "3 lis" in bench.text(".cross .readout")
    assert "3 red" in bench.text(".cross .readout")
    bench.press("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert bench.text(".cross .readout").startswith("query 2 je → lis key 1 i")
    bench.press("End", "ArrowDown", "ArrowDown")  # the last key of the last row that is there
    assert bench.text(".cross .readout").startswith("query 3 lis → livres key 5 <eos>")
    assert bench.step() == "step 3 of 5"
    bench.press("Escape")
    assert bench.text(".cross .readout") == ""
    bench.press("ArrowRight")
    assert bench.step() == "step 4 of 5"


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
def test_tokens_are_only_ever_text(bench: Bench, width: int) -> None:
    requests: list[str] = []
    bench.page.on("request", lambda request: requests.append(request.url))
    bench.mount(planted_view(planted_trace(NASTY, ["<sos>", *NASTY[:6]]), step=4), width=width)
    requests = [url for url in requests if not url.startswith(("blob:", "about:", "data:"))]
    bench("summary").click()
    bench(".cross canvas").click(position=bench.point("cross", 1, 1))
    bench.press("End", "Home")
    for token in NASTY[:5]:
        assert bench(".source bdi.token").get_by_text(token, exact=True).first.inner_text() == token
    assert bench("img, script").count() == 0
    assert "U+202Eevil" in bench.text(".source .chips")
    assert requests == []


@pytest.mark.parametrize(("n_src", "n_tgt"), [(1, 1), (1, 4), (100, 1), (100, 100)])
@pytest.mark.parametrize("width", [1000, 358])
def test_any_length_is_drawn(bench: Bench, n_src: int, n_tgt: int, width: int) -> None:
    trace = planted_trace(
        [f"w{i}" for i in range(n_src - 1)] + ["<eos>"], ["<sos>"] + ["v"] * (n_tgt - 1), heads=(2, 9)
    )
    bench.page.set_viewport_size({"width": width + 32, "height": 768})
    bench.mount(planted_view(trace, step=n_tgt, layer=1, head=1), width=width)
    for kind, rows, columns in (("encoder", n_src, n_src), ("decoder", n_tgt, n_tgt), ("cross", n_tgt, n_src)):
        _, _, cell, drawn, across = bench.plot(kind)
        assert (drawn, across) == (rows, columns)
        assert cell >= 3
    assert bench.colour("cross", 0, 0)[:3] != bench.colour("cross", 0, n_src - 1)[:3] or n_src == 1
    scroll, client = bench.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert scroll <= client, "the page itself never scrolls sideways"


def test_the_stage_of_twelve_tokens_fits_the_first_screen(bench: Bench) -> None:
    words = ["the", "young", "man", "is", "reading", "a", "long", "book", "in", "the", "garden", "."]
    bench.mount(planted_view(planted_trace([*words, "<eos>"], ["<sos>", *words])))
    script = "(part) => root.querySelector(part).getBoundingClientRect().bottom - root.host.getBoundingClientRect().top"
    assert bench.page.evaluate(script, ".choice") <= 520
    assert bench.page.evaluate(script, ".next") <= 520
    assert bench.page.evaluate(script, ".maps .focus figcaption") <= 580, "the large map begins on the first screen"
