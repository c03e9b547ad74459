"""How long a moved slider on the teaching pages takes: on the server, and until the browser has painted the answer."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Page, sync_playwright
from streamlit.testing.v1 import AppTest

from tests.benchmarks.registry import Row, benchmark, median, torch_threads
from tests.browser import launch, serve, settle

ROOT = Path(__file__).parents[2]
MODEL, TEXT = "reverse", "abcdefghijklmnop"  # the longest sentence that the model knows
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
    ("inside", "The computation", "select_slider", "inside_step_17", tuple(range(1, 17))),
    ("inside", "Layer by layer", "select_slider", "lens_step_17", tuple(range(1, 17))),
    ("inside", "The prediction", "slider", "chance_temperature", (0.5, 1.5)),
    ("inside", "Sizes", "select_slider", "budget_size_d_model", (256, 512)),
)
# The same in the browser: page, tab, and the label of the slider that an arrow key moves.
SLIDES = (
    ("positions", "The table", "d_model"),
    ("positions", "The table", "Length"),
    ("positions", "The table", "Base"),
    ("positions", "One word", "Token"),
    ("positions", "The rotation", "Offset k"),
    ("positions", "Alternatives", "Length"),
    ("positions", "Shuffle the words", "Shuffle number"),
    ("positions", "Longer than trained", "Say the sentence"),
    ("masks", "While decoding", "Step"),
    ("masks", "Open padding", "Padding tokens"),
    ("inside", "The computation", "Step"),
    ("inside", "Layer by layer", "Step"),
    ("inside", "The prediction", "Temperature"),
    ("inside", "Sizes", "d_model"),
)
QUIET_MS = 1200  # without any change, after which the answer counts as complete
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
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.set_default_timeout(60_000)
        for name, tab, label in SLIDES:
            page.goto(f"{server.url}/{name}?model={MODEL}&text={TEXT}")
            settle(page, 60_000)
            page.get_by_role("tab", name=tab, exact=True).click()
            times = slide_times(page, label)[N_WARM_UP:]
            rows.append(
                Row(
                    measure=f"a move of {label} on {name}, {tab}, in the browser",
                    ours=median(times),
                    unit="ms",
                    target="≤ 300 ms on 2 cores",
                    met=median(times) <= 300,
                    detail=f"median of {len(times)} key presses to the last changed frame, {max(times):.0f} ms at most",
                )
            )
        browser.close()
    return rows


def slide_times(page: Page, label: str) -> list[float]:
    """Milliseconds of each move of one slider."""
    settle(page, 60_000)
    page.wait_for_timeout(QUIET_MS)
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    thumb = page.get_by_role("slider", name=label).first
    thumb.focus()
    times = []
    for move in range(N_WARM_UP + N_MOVES):
        # A slider that stands at its end can only go back; others go there and back again.
        thumb.press("ArrowLeft" if label == "Step" or move % 2 else "ArrowRight")
        took = float(page.evaluate(f"__slide.answered({QUIET_MS})"))
        if not took:
            raise AssertionError(f"nothing on the page changed when {label} was moved")
        times.append(took)
    return times


def on_server() -> list[Row]:
    """Each move is a run of the script as the server makes it, models and all."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = []
    with torch_threads(1):
        for page, tab, kind, key, values in MOVES:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            app.session_state["model"], app.session_state["text"] = MODEL, TEXT
            app.run()
            app.session_state[f"{page}_tab"] = tab
            app.switch_page(f"pages/{page}.py").run()
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
            rows.append(
                Row(
                    measure=f"a move of {key} on {page}, {tab}",
                    ours=ours,
                    unit="ms",
                    target="≤ 300 ms",
                    met=ours <= 300,
                    detail=f"median of {N_MOVES} runs of the whole page, {max(times[N_WARM_UP:]):.0f} ms at most",
                )
            )
    return rows
