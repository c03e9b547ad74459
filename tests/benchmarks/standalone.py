"""A page of `show`, opened as a file in a browser, beside BertViz's model view: time to the painted picture.

Both show all heads of the same random arrays in the same Chromium, and both are files. BertViz's needs three libraries
from the network, which are embedded here (see bertviz_peer.py). Times run from the start of the navigation to the first
frame that shows all heads.
"""

from collections.abc import Iterator

from playwright.sync_api import Browser

from explorer.files.show import MOST_DIGITS
from explorer.notebook import show
from model.trace import AttentionTrace
from tests.benchmarks import bertviz_peer
from tests.benchmarks.bertviz_peer import trace_of, until_file_painted
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median

SIZE = (12, 12, 128)  # layers, heads, tokens
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


def our_time(lab: Lab, browser: Browser, trace: AttentionTrace) -> float:
    """Make a file of all heads, and open it in one new tab after another: the median of milliseconds to the picture."""
    path = show(encoder=trace.encoder, source=trace.src_tokens, view="heads", theme="light").save(
        lab.folder / "ours.html"
    )
    times, (layers, heads) = [], trace.encoder.shape[:2]
    for _ in range(lab.times(N_OURS)):
        page = lab.new_tab(browser, WATCH)
        times.append(until_file_painted(page, path))
        tiles = page.locator(".tile").count()
        if tiles != layers * (heads + 1):  # the heads, and the mean of each layer
            raise RuntimeError(f"{tiles} thumbnails were drawn for {layers} × {heads} heads")
        page.close()
    return median(times)


@benchmark("standalone")
def measure(lab: Lab) -> Iterator[Row]:
    trace, browser = trace_of(*SIZE), lab.new_browser()
    our_time(lab, browser, trace_of(1, 1, 4))  # not measured: the browser's first page
    ours, peer = our_time(lab, browser, trace), bertviz_peer.measured(lab, browser, trace)
    name = "{} layers × {} heads × {} tokens".format(*SIZE)
    what = f"{name}, by default (rounded to {MOST_DIGITS} decimals): opening a file, to painted"
    yield peer.beside(what, ours, 1000)
