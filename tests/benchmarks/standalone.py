"""A page of `show`, opened as a file in a browser, beside BertViz's model view: time to the painted picture, and bytes.

Both show all heads of the same random arrays in the same Chromium, and both are files. Ours is complete: once with
every weight as float32 (`digits=None`), and once as `show` makes it by default. BertViz's needs three libraries from
the network, which are embedded here and not counted (see grid.py). Times run from the start of the navigation to the
first frame that shows all heads. Random weights cannot be compressed much; those of trained models are smaller.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Error, sync_playwright

from explorer.files.show import MOST_DIGITS, MOST_EXACT, Digits
from explorer.notebook import show
from model.trace import AttentionTrace
from tests.benchmarks.grid import PEER, their_times, trace_of
from tests.benchmarks.page import SCREEN
from tests.benchmarks.registry import Row, benchmark, median
from tests.browser import launch

SIZES = ((4, 4, 20), (6, 8, 60), (12, 12, 128))  # layers, heads, tokens
N_OURS, N_THEIRS = 5, 3
PATIENCE_MS = 60_000

# Notes the end of the frame in which the views report that they are drawn. The views draw in animation frames.
WATCH = """
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (run) => frame((time) => {
  run(time);
  const views = document.querySelector(".host")?.shadowRoot?.querySelector(".explorer");
  if (window.painted || !views?.dataset.drawn) return;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { window.painted = performance.now(); };
  channel.port2.postMessage(0);
});
"""


def our_times(browser: Browser, trace: AttentionTrace, *, digits: Digits) -> tuple[list[float], int, float]:
    """Milliseconds from opening our file to the frame that shows it; its bytes; seconds to make it."""
    start = perf_counter()
    made = show(encoder=trace.encoder, source=trace.src_tokens, view="heads", theme="light", digits=digits)
    seconds, times = perf_counter() - start, []
    layers, heads = trace.encoder.shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        path = made.save(Path(folder) / "ours.html")
        for _ in range(N_OURS):
            page = browser.new_page(viewport=SCREEN)
            page.add_init_script(WATCH)
            page.goto(path.as_uri(), timeout=PATIENCE_MS)
            page.wait_for_function("() => window.painted", timeout=PATIENCE_MS)
            times.append(page.evaluate("() => window.painted"))
            tiles = page.locator(".tile").count()
            if tiles != layers * (heads + 1):  # the heads, and the mean of each layer
                raise RuntimeError(f"{tiles} thumbnails were drawn for {layers} × {heads} heads")
            page.close()
        size = path.stat().st_size
    return times, size, seconds


def _peer(browser: Browser, trace: AttentionTrace) -> tuple[float, int, int] | str:
    """BertViz's milliseconds, bytes and nodes, or the reason why there are none."""
    large = trace.encoder.size > 10**6
    try:
        times, size, nodes = their_times(browser, trace, 1 if large else N_THEIRS)
    except ImportError as missing:
        return f"BertViz was not measured ({missing}): pip install -r tests/benchmarks/requirements.txt"
    except Error as failed:
        return f"BertViz showed nothing: {str(failed).splitlines()[0]}"
    return median(times), size, nodes


@benchmark("standalone")
def measure() -> list[Row]:
    """Both in turn for each size."""
    rows = []
    with sync_playwright() as playwright:
        for size in SIZES:
            trace = trace_of(*size)
            browser = launch(playwright)
            our_times(browser, trace_of(1, 1, 4), digits=None)  # not measured: the browser's first page
            exact, default = (our_times(browser, trace, digits=digits) for digits in (None, "auto"))
            peer = _peer(browser, trace)
            browser.close()
            rows += _rows(size, exact, default, peer)
    return rows


def _rows(
    size: tuple[int, int, int],
    exact: tuple[list[float], int, float],
    default: tuple[list[float], int, float],
    peer: tuple[float, int, int] | str,
) -> list[Row]:
    name = "{} layers × {} heads × {} tokens".format(*size)
    theirs, their_size, nodes = (None, None, 0) if isinstance(peer, str) else peer
    why = peer if isinstance(peer, str) else f"BertViz: {nodes:,} nodes"
    layers, heads, tokens = size
    rounds = layers * heads * tokens**2 > MOST_EXACT
    by_default = "by default" + (f" (rounded to {MOST_DIGITS} decimals)" if rounds else " (float32)")
    rows = []
    for (times, our_size, seconds), how in ((exact, "float32"), (default, by_default)):
        largest = size == SIZES[-1] and how == by_default  # what was asked for is asked of the default
        took = median(times)
        fast = theirs is None or theirs >= 20 * took
        small = their_size is None or their_size >= 30 * our_size
        rows += [
            Row(
                measure=f"{name}, {how}: opening a file, to painted",
                ours=took,
                unit="ms",
                other=theirs,
                against=PEER,
                target="≤ 1 s, ≥ 20 × faster" if largest else "",
                met=(took <= 1000 and fast) if largest else None,
                detail=(f"{theirs / took:.0f} × faster; " if theirs else "") + f"{why}; made in {seconds:.1f} s",
            ),
            Row(
                measure=f"{name}, {how}: bytes of the file",
                ours=our_size / 1000,
                unit="kB",
                other=their_size / 1000 if their_size else None,
                against=PEER,
                target="≥ 30 × smaller" if largest else "",
                met=small if largest and their_size else None,
                detail=(f"{their_size / our_size:.0f} × smaller; " if their_size else "")
                + "ours includes all code, BertViz's excludes its libraries",
            ),
        ]
    return rows
