"""A page of `show`, opened as a file in a browser, beside BertViz's model view: time to the painted picture, and bytes.

Both show all heads of the same random arrays in the same Chromium, and both are files. Ours is complete: once with
every weight as float32 (`digits=None`), and once as `show` makes it by default. BertViz's needs three libraries from
the network, which are embedded here and not counted (see bertviz_peer.py). Times run from the start of the navigation
to the first frame that shows all heads. Random weights cannot be compressed much; those of trained models are smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from playwright.sync_api import Browser

from explorer.files.show import MOST_DIGITS, MOST_EXACT, Digits
from explorer.notebook import show
from model.trace import AttentionTrace
from tests.benchmarks import bertviz_peer
from tests.benchmarks.bertviz_peer import trace_of, until_file_painted
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median

SIZES = ((4, 4, 20), (6, 8, 60), (12, 12, 128))  # layers, heads, tokens
N_OURS = 5

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


@dataclass(frozen=True)
class Ours:
    """Milliseconds from opening our file to the frame that shows it; its bytes; seconds to make it."""

    took: float
    size: int
    making: float


def our_file(lab: Lab, browser: Browser, trace: AttentionTrace, digits: Digits) -> Ours:
    """Make a file of all heads, and open it in one new tab after another."""
    start = perf_counter()
    made = show(encoder=trace.encoder, source=trace.src_tokens, view="heads", theme="light", digits=digits)
    making, times = perf_counter() - start, []
    layers, heads = trace.encoder.shape[:2]
    path = made.save(lab.folder / "ours.html")
    for _ in range(lab.times(N_OURS)):
        page = lab.new_tab(browser, WATCH)
        times.append(until_file_painted(page, path))
        tiles = page.locator(".tile").count()
        if tiles != layers * (heads + 1):  # the heads, and the mean of each layer
            raise RuntimeError(f"{tiles} thumbnails were drawn for {layers} × {heads} heads")
        page.close()
    return Ours(median(times), path.stat().st_size, making)


@benchmark("standalone")
def measure(lab: Lab) -> Iterator[Row]:
    """Both in turn for each size."""
    for size in SIZES[: lab.times(len(SIZES))]:
        trace, browser = trace_of(*size), lab.new_browser()
        our_file(lab, browser, trace_of(1, 1, 4), None)  # not measured: the browser's first page
        exact, default = (our_file(lab, browser, trace, digits) for digits in (None, "auto"))
        peer = bertviz_peer.measured(lab, browser, trace)
        browser.close()
        name, rounds = "{} layers × {} heads × {} tokens".format(*size), trace.encoder.size > MOST_EXACT
        by_default = f"rounded to {MOST_DIGITS} decimals" if rounds else "float32"
        yield from _rows(f"{name}, float32", exact, peer, asked=False)
        # What was asked for is asked of the default.
        yield from _rows(f"{name}, by default ({by_default})", default, peer, asked=size == SIZES[-1])


def _rows(name: str, ours: Ours, peer: bertviz_peer.BertViz, *, asked: bool) -> Iterator[Row]:
    yield Row(
        f"{name}: opening a file, to painted",
        ours.took,
        "ms",
        peer.took,
        bertviz_peer.NAME,
        target="≤ 1 s, ≥ 20 × faster" if asked else "",
        met=ours.took <= 1000 and (peer.took is None or peer.took >= 20 * ours.took) if asked else None,
        detail=peer.slower(ours.took, peer.note, f"made in {ours.making:.1f} s"),
    )
    yield Row(
        f"{name}: bytes of the file",
        ours.size / 1000,
        "kB",
        peer.kilobytes,
        bertviz_peer.NAME,
        target="≥ 30 × smaller" if asked else "",
        met=peer.size >= 30 * ours.size if asked and peer.size else None,
        detail=peer.larger(ours.size, "ours includes all code, BertViz's excludes its libraries"),
    )
