"""BertViz's model view of all heads, opened as a file: the peer of `grid` and `standalone`.

BertViz loads require.js, jQuery and D3 from the network; here jQuery and D3 come from Python packages, embedded in the
file, and ten lines replace require.js. All of that is in its favour.
"""

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import Browser, Error, Page

from model.trace import AttentionTrace
from tests.benchmarks.lab import PATIENCE_MS, Lab
from tests.benchmarks.registry import Row
from tests.benchmarks.timing import median
from tests.explorer.planted_heads import random_trace

NAME = "BertViz's model_view"
REPEATS, MANY_HEADS = 3, 100  # of so many heads, a picture takes too long to be repeated

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


@dataclass(frozen=True)
class BertViz:
    """Milliseconds to the painted picture, None if not measured; `note` says why not, or counts the nodes."""

    took: float | None
    note: str

    def beside(self, measure: str, ours: float, most: float) -> Row:
        """The row for our milliseconds, which should be `most` at most and a twentieth of these."""
        met = ours <= most and (self.took is None or self.took >= 20 * ours)
        detail = f"{self.took / ours:.0f} × faster; {self.note}" if self.took else self.note
        return Row(measure, ours, "ms", self.took, NAME, f"≤ {most:,g} ms, ≥ 20 × faster", met, detail)


def measured(lab: Lab, browser: Browser, trace: AttentionTrace) -> BertViz:
    try:
        path = lab.folder / "bertviz.html"
        path.write_text(bertviz_html(trace), encoding="utf-8")
        times = []
        for _ in range(1 if np.prod(trace.encoder.shape[:2]) > MANY_HEADS else lab.times(REPEATS)):
            page = lab.new_tab(browser)
            times.append(until_file_painted(page, path))
            nodes = page.evaluate("() => document.querySelectorAll('*').length")
            page.close()
    except ImportError as missing:
        why = f"BertViz was not measured ({missing}): pip install -r tests/benchmarks/requirements.txt"
        return BertViz(None, why)
    except Error as failed:
        return BertViz(None, f"BertViz showed nothing: {str(failed).splitlines()[0]}")
    return BertViz(median(times), f"BertViz: {nodes:,} nodes")


def until_file_painted(page: Page, path: Path) -> float:
    """Milliseconds from the start of the navigation to the frame for which the file notes `window.painted`."""
    start = perf_counter()
    page.goto(path.as_uri(), timeout=PATIENCE_MS)
    page.wait_for_function("() => window.painted", timeout=PATIENCE_MS)
    took = float(page.evaluate("() => window.painted"))
    if 1000 * (perf_counter() - start) < took / 2:
        raise RuntimeError("the browser's clock and ours disagree")
    return took


def trace_of(layers: int, heads: int, tokens: int, seed: int = 0) -> AttentionTrace:
    """Random encoder attention: rows sum to 1, with some keys far above the others."""
    words = [f"word{i}" for i in range(tokens - 1)]
    return random_trace([*words, "<eos>"], ["<sos>"], layers=(layers, 1), heads=(heads, 1), seed=seed)


def bertviz_html(trace: AttentionTrace) -> str:
    """BertViz's own HTML for the encoder's attention, adapted to work offline.

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
    return f"<!doctype html><html><body>{html}</body></html>"


def _read(package: str, path: str) -> str:
    """A file of an installed package, located without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"{package} is not installed")
    return (Path(next(iter(found.submodule_search_locations))) / path).read_text(encoding="utf-8")
