"""All heads at once: time from a click to the painted picture, and bytes sent, beside BertViz's model view.

Both show the same random arrays in the same Chromium. Ours is requested by a button on a Streamlit page, so its time
includes the server and the connection; BertViz's HTML is opened as a file. BertViz loads require.js, jQuery and D3 from
the network; here jQuery and D3 come from Python packages, embedded in the file and not counted, and ten lines replace
require.js. All of that is in its favour.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from model.trace import AttentionTrace
from tests.benchmarks.page import COUNT, SCREEN
from tests.benchmarks.registry import Row, benchmark, median
from tests.browser import launch, serve, settle
from tests.explorer.planted_heads import random_trace

SIZES = ((4, 4, 20), (6, 8, 60), (12, 12, 60))  # layers, heads, tokens
N_TABS, N_SHOWN, N_THEIRS = 3, 4, 3
PATIENCE_MS = 180_000
SCRIPT = Path(__file__).with_name("page.js")
PEER = "BertViz's model_view"

APP = """
import streamlit as st


def page():
    from explorer.browser.frame import copy_link
    from explorer.browser.views import heads_view
    from explorer.decoding.decoding import Decoding, place_in
    from tests.benchmarks.grid import N_SHOWN, trace_of

    st.set_page_config(layout="wide")
    copy_link(key="copy")  # is on every page of the app, so the browser has loaded Streamlit's component code by then
    name = st.query_params["size"]
    size = tuple(int(part) for part in name.split("-"))
    made = st.cache_resource(trace_of, max_entries=64, show_spinner=False)
    for number in range(1, 1 + N_SHOWN):
        made(*size, number)  # creating the arrays is not part of the measurement
    if st.button("Show"):
        st.session_state["shown"] = st.session_state.get("shown", 0) + 1
    if "shown" in st.session_state:
        number = st.session_state["shown"]
        # Caches are keyed by the name of the decoding: a name that no earlier tab used finds empty caches.
        seq = f"{name}-{st.query_params['tab']}-{number}"
        trace = made(*size, number)
        heads_view(Decoding(trace, seq, "random"), place_in(trace, kind="encoder"), "", key="heads")


if __name__ == "__main__":
    page()
else:
    from explorer.browser import assets

    app = st.App(__file__, routes=assets.routes())
"""

# Stands in for require.js, given that both libraries are loaded.
LOADER = """
window.require = { config() {} };
window.requirejs = (names, run) => {
  run(window.jQuery, window.d3);
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { window.painted = performance.now(); };
  requestAnimationFrame(() => channel.port2.postMessage(0));
};
"""


def trace_of(layers: int, heads: int, tokens: int, seed: int = 0) -> AttentionTrace:
    """Random encoder attention: rows sum to 1, with some keys far above the others."""
    words = [f"word{i}" for i in range(tokens - 1)]
    return random_trace([*words, "<eos>"], ["<sos>"], layers=(layers, 1), heads=(heads, 1), seed=seed)


@dataclass
class Ours:
    """Measurements of our page, in milliseconds and bytes: `size` includes the code of the views, `later` does not."""

    first: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    changed: list[float] = field(default_factory=list)
    size: int = 0
    later: int = 0


def our_times(browser: Browser, url: str, size: tuple[int, int, int], tabs: int = N_TABS) -> Ours:
    """Click to painted: the first time in a tab, again with other arrays, and a change of scale after that."""
    found, name = Ours(), "-".join(map(str, size))
    for tab in range(tabs):
        page = browser.new_page(viewport=SCREEN)
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(COUNT)
        page.goto(f"{url}/?size={name}&tab={tab}")
        settle(page, PATIENCE_MS)
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
        for number in range(1, 1 + N_SHOWN):
            page.wait_for_timeout(500)
            page.evaluate("window.received = 0")
            took = _click(page, page.get_by_role("button", name="Show"), f"{name}-{tab}-{number} heads encoder")
            tiles = page.locator(".tile").count()
            if tiles != size[0] * (size[1] + 1):  # the heads, and the mean of each layer
                raise RuntimeError(f"{tiles} thumbnails were drawn for {name}")
            settle(page, PATIENCE_MS)
            (found.first if number == 1 else found.shown).append(took)
            received = page.evaluate("window.received")
            if number == 1:
                found.size = received
            else:
                found.later = received
        if not page.locator(".panel").is_visible():
            page.locator(".options").click()
        for scale in ("max", "log", "unit"):
            chosen = "scale => __bench.arm('input', () => __bench.find('select[name=scale]').value === scale)"
            page.evaluate(chosen, scale)
            page.locator("select[name=scale]").select_option(scale)
            found.changed.append(page.evaluate("__bench.pending"))
            page.wait_for_timeout(400)
        page.close()
    return found


def _click(page: Page, button: object, drawn: str) -> float:
    """Milliseconds from the click to the frame in which the views report that they have drawn this."""
    page.evaluate("want => __bench.arm('click', () => __bench.find('.explorer')?.dataset.drawn === want)", drawn)
    button.click()  # type: ignore[attr-defined]
    took: float = page.evaluate("__bench.pending")
    return took


def bertviz_html(trace: AttentionTrace) -> tuple[str, int]:
    """BertViz's own HTML for the encoder's attention, adapted to work offline, and its original size.

    Raises:
        ImportError: BertViz or one of the packages that bring its libraries is not installed.
    """
    import torch
    from bertviz import model_view

    weights = [torch.from_numpy(np.ascontiguousarray(layer))[None] for layer in trace.encoder]
    made = model_view(weights, list(trace.src_tokens), display_mode="light", html_action="return").data
    libraries = _read("xstatic.pkg.jquery", "data/jquery.min.js"), _read("mpld3", "js/d3.v5.min.js")
    scripts = "".join(f"<script>{text}</script>" for text in (*libraries, LOADER))
    html = re.sub(r'<script src="https?://[^"]*require[^"]*"></script>', lambda _: scripts, made)
    return f"<!doctype html><html><body>{html}</body></html>", len(made.encode())


def _read(package: str, path: str) -> str:
    """A file of an installed package, located without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"{package} is not installed")
    return (Path(next(iter(found.submodule_search_locations))) / path).read_text(encoding="utf-8")


def their_times(browser: Browser, trace: AttentionTrace, repeats: int) -> tuple[list[float], int, int]:
    """Milliseconds from opening BertViz's file to the frame that shows it; its bytes; its nodes."""
    html, size = bertviz_html(trace)
    times, nodes = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bertviz.html"
        path.write_text(html, encoding="utf-8")
        for _ in range(repeats):
            page = browser.new_page(viewport=SCREEN)
            page.set_default_timeout(PATIENCE_MS)
            start = perf_counter()
            page.goto(path.as_uri(), timeout=PATIENCE_MS)
            page.wait_for_function("() => window.painted", timeout=PATIENCE_MS)
            times.append(page.evaluate("() => window.painted"))
            nodes = page.evaluate("() => document.querySelectorAll('*').length")
            if 1000 * (perf_counter() - start) < times[-1] / 2:
                raise RuntimeError("the browser's clock and ours disagree")
            page.close()
    return times, size, nodes


@benchmark("grid")
def measure() -> list[Row]:
    """Both in turn for each size."""
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        app = Path(folder) / "grid_app.py"
        app.write_text(APP, encoding="utf-8")
        with serve(app=str(app)) as server:
            _warm(browser, server.url)
            for size in SIZES:
                ours = our_times(browser, server.url, size)
                rows += _rows(size, ours, _peer(browser, size))
        browser.close()
    return rows


def _warm(browser: Browser, url: str) -> None:
    """One visit that is not measured: it covers imports and the browser's warm-up."""
    our_times(browser, url, (1, 1, 4), tabs=1)


def _peer(browser: Browser, size: tuple[int, int, int]) -> tuple[list[float], int, int] | str:
    """BertViz's figures, or the reason why there are none."""
    try:
        return their_times(browser, trace_of(*size), 1 if size[0] * size[1] > 100 else N_THEIRS)
    except ImportError as missing:
        return f"BertViz was not measured ({missing}): pip install -r tests/benchmarks/requirements.txt"


def _rows(size: tuple[int, int, int], ours: Ours, peer: tuple[list[float], int, int] | str) -> list[Row]:
    name = "{} layers × {} heads × {} tokens".format(*size)
    middle = size == (6, 8, 60)
    theirs, their_size, nodes = (None, None, 0) if isinstance(peer, str) else (median(peer[0]), peer[1], peer[2])
    why = peer if isinstance(peer, str) else f"BertViz: {nodes:,} nodes"
    return [
        Row(
            measure=f"{name}: click to painted, the first time in a tab",
            ours=median(ours.first),
            unit="ms",
            other=theirs,
            against=PEER,
            target="≤ 200 ms, ≥ 20 × faster" if middle else "",
            met=median(ours.first) <= 200 and (theirs is None or theirs >= 20 * median(ours.first)) if middle else None,
            detail=f"{theirs / median(ours.first):.0f} × faster; {why}" if theirs else why,
        ),
        Row(
            measure=f"{name}: click to painted, other arrays in the same tab",
            ours=median(ours.shown),
            unit="ms",
            other=theirs,
            against=PEER,
            detail=f"{theirs / median(ours.shown):.0f} × faster" if theirs else "",
        ),
        Row(
            measure=f"{name}: a change after that (scale of all heads), to painted",
            ours=median(ours.changed),
            unit="ms",
            target="≤ 50 ms" if middle else "",
            met=median(ours.changed) <= 50 if middle else None,
        ),
        Row(
            measure=f"{name}: bytes sent to the browser, the first time in a tab",
            ours=ours.size / 1000,
            unit="kB",
            other=their_size / 1000 if their_size else None,
            against=PEER,
            target="≥ 30 × smaller" if middle else "",
            met=their_size >= 30 * ours.size if middle and their_size else None,
            detail=(f"{their_size / ours.size:.0f} × smaller; " if their_size else "")
            + "ours includes the code of the views, BertViz's excludes its libraries",
        ),
        Row(
            measure=f"{name}: bytes sent to the browser, other arrays in the same tab",
            ours=ours.later / 1000,
            unit="kB",
            other=their_size / 1000 if their_size else None,
            against=PEER,
            target="≤ 250 kB a kind" if middle else "",
            met=ours.later <= 250_000 if middle else None,
            detail=f"{their_size / ours.later:.0f} × smaller" if their_size else "",
        ),
    ]
