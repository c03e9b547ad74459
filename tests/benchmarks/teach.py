"""The response time of sliders on the teaching pages: on the server, and until the browser has painted the result."""

from __future__ import annotations

import os
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Page, sync_playwright
from streamlit.testing.v1 import AppTest

from tests.benchmarks.page import COUNT
from tests.benchmarks.registry import Row, benchmark, median, percentile, torch_threads
from tests.browser import launch, serve, settle
from tests.paths import ROOT

MODEL, TEXT = "reverse", "abcdefghijklmnop"  # as long as the model's longest training sentence
N_WARM_UP, N_MOVES = 2, 12

# Page, tab, kind of widget, its key, and the values that it moves between.
MOVES = (
    ("positions", "The table", "slider", "pe_width", (512, 256)),
    ("positions", "The table", "slider", "pe_length", (128, 100)),
    ("positions", "The table", "select_slider", "pe_base", (100.0, 10_000.0)),
    ("positions", "The rotation", "slider", "pe_offset", (3, 9)),
    ("positions", "Alternatives", "slider", "pe_length", (128, 100)),
    ("positions", "Shuffle the words", "slider", "pe_seed", tuple(range(1, 30))),
    ("positions", "Longer than trained", "slider", "pe_times", (1, 2, 3, 4)),
    ("masks", "The masks", "toggle", "masks_causal", (False, True)),
    ("masks", "Given target", "toggle", "lift_mask", (True, False)),
    ("masks", "Open padding", "slider", "masks_pads", tuple(range(1, 20))),
    ("inside", "All operations", "select_slider", "inside_step_17", tuple(range(1, 17))),
    ("inside", "Layer by layer", "select_slider", "lens_step_17", tuple(range(1, 17))),
    ("inside", "The prediction", "slider", "chance_temperature", (0.5, 1.5)),
    ("inside", "Sizes", "select_slider", "budget_size_d_model", (256, 512)),
)
# In the browser: page, tab, and the label of the slider that an arrow key moves.
SLIDES = (
    ("positions", "The table", "d_model"),
    ("positions", "The table", "Length"),
    ("positions", "The table", "Base"),
    ("positions", "One word", "Token"),
    ("positions", "The rotation", "Offset k"),
    ("positions", "Alternatives", "Length"),
    ("positions", "Shuffle the words", "Shuffle number"),
    ("positions", "Longer than trained", "Repeat the sentence"),
    ("masks", "While decoding", "Step"),
    ("masks", "Open padding", "Padding tokens"),
    ("inside", "All operations", "Step"),
    ("inside", "Layer by layer", "Step"),
    ("inside", "The prediction", "Temperature"),
    ("inside", "Sizes", "d_model"),
)
QUIET_MS = 400  # the response counts as complete after this long without a change or a running script
SCRIPT = Path(__file__).with_suffix(".js")


@benchmark("teach")
def measure() -> list[Row]:
    """Move every slider back and forth, on the server and in headless Chromium."""
    return [*on_server(), *in_browser()]


def in_browser() -> list[Row]:
    """From the key that moves a slider to the last frame that it changed, all figures and tables drawn."""
    rows = []
    with sync_playwright() as playwright, serve() as server:
        browser = launch(playwright)
        for name, slides in groupby(SLIDES, key=itemgetter(0)):
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_default_timeout(60_000)
            page.add_init_script(COUNT)
            page.goto(f"{server.url}/{name}?model={MODEL}&text={TEXT}")
            settle(page, 60_000)
            page.evaluate(SCRIPT.read_text(encoding="utf-8"))
            wanted = list(slides)
            if not rows:
                slide(page, *wanted[0])  # warm-up: the first moves on a fresh server and browser are slower
            rows += [slide(page, *each) for each in wanted]
            page.close()
        browser.close()
    return rows


def slide(page: Page, name: str, tab: str, label: str) -> Row:
    """The moves of one slider."""
    page.get_by_role("tab", name=tab, exact=True).click()
    settle(page, 60_000)
    thumb = page.get_by_role("slider", name=label).first
    thumb.focus()
    if label == "Step":
        thumb.press("End")  # every step back from here gives a new value
    answered(page)
    times, sent, sizes = [], [], []
    for move in range(N_WARM_UP + N_MOVES):
        page.evaluate("window.received = 0")
        # A slider at its end can only go back; others go forward and back.
        thumb.press("ArrowLeft" if label == "Step" or move % 2 else "ArrowRight")
        told, took = answered(page)
        if not took:
            raise AssertionError(f"nothing on the page changed when {label} was moved")
        times.append(took)
        sent.append(told)
        sizes.append(page.evaluate("window.received"))
    times, sent, sizes = times[N_WARM_UP:], sent[N_WARM_UP:], sizes[N_WARM_UP:]
    return Row(
        measure=f"a move of {label} on {name}, {tab}, in the browser",
        ours=median(times),
        unit="ms",
        target="≤ 300 ms on 2 cores",
        met=median(times) <= 300,
        detail=f"median of {len(times)} key presses to the last changed frame, "
        f"95 % within {percentile(times, 95):.0f} ms; the server is told after {median(sent):.0f} ms "
        f"and answers with {median(sizes) / 1000:.0f} kB",
    )


def answered(page: Page) -> tuple[float, float]:
    """Wait until nothing changes: milliseconds from the last key to the message to the server, and to the end."""
    told, took = page.evaluate(f"__slide.answered({QUIET_MS})")
    return float(told), float(took)


def on_server() -> list[Row]:
    """Each move is a script run as on the server, including model calls."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = []
    with torch_threads(1):
        for page, moves in groupby(MOVES, key=itemgetter(0)):
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            app.session_state["model"], app.session_state["text"] = MODEL, TEXT
            app.run()
            app.switch_page(f"pages/{page}.py")
            rows += [runs(app, *each) for each in moves]
    return rows


def runs(app: AppTest, page: str, tab: str, kind: str, key: str, values: tuple[float, ...]) -> Row:
    """The moves of one slider or switch."""
    app.session_state[f"{page}_tab"] = app.query_params[f"{page}_tab"] = tab  # in a browser the address follows
    app.run()
    times = []
    for move in range(N_WARM_UP + N_MOVES):
        widget = getattr(app, kind)(key=key)
        widget.set_value(values[move % len(values)])
        began = perf_counter()
        app.run()
        times.append(1000 * (perf_counter() - began))
        if app.exception:
            raise AssertionError(app.exception[0].message)
    ours = median(times[N_WARM_UP:])
    return Row(
        measure=f"a move of {key} on {page}, {tab}",
        ours=ours,
        unit="ms",
        target="≤ 300 ms",
        met=ours <= 300,
        detail=f"median of {N_MOVES} runs of the whole page, {max(times[N_WARM_UP:]):.0f} ms at most",
    )
