"""How long the Probe page's measurements of the default model take, and its picture in a fresh browser.

The measurements are in processor time on one thread: an upper bound of the time on an idle machine, and not longer on a
busy one. The picture is in seconds on the clock: a busy machine makes it longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from shutil import copytree
from time import process_time
from typing import TypeVar

from explorer.probing.importance import measure_curve, measure_importance
from explorer.probing.measured import FILE
from explorer.probing.measured import measure as measure_heads
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice
from model.checkpoint import load_model
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median
from tests.browser import serve
from tests.paths import CHECKPOINTS

MODEL = "multi30k-en-de"
REPEATS = 3
MOST_MEASURED, MOST_IMPORTANCE, MOST_CURVE, MOST_STORED, MOST_PICTURE = 8.0, 15.0, 30.0, 1.0, 1.0  # seconds
N_VISITS, LOOKING_MS = 3, 10_000  # a visitor reads the first page before going on
# From the click on the link to the frame that follows the first one with all thumbnails painted.
PICTURE = """count => {
  const tiles = root => [...root.querySelectorAll("*")].reduce(
    (sum, e) => sum + e.classList.contains("tile") + (e.shadowRoot ? tiles(e.shadowRoot) : 0), 0);
  window.pictured = new Promise(done => document.addEventListener("click", () => {
    const start = performance.now();
    const look = () => tiles(document) < count ? requestAnimationFrame(look)
      : requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
    look();
  }, { once: true, capture: true }));
}"""

Result = TypeVar("Result")


def timed(work: Callable[[], Result], repeats: int) -> tuple[Result, float]:
    """The result of the work and the median of its times in seconds."""
    times = []
    for _ in range(repeats):
        began = process_time()
        result = work()
        times.append(process_time() - began)
    return result, median(times)


def picture_time(lab: Lab, n_heads: int) -> float:
    """Seconds from the link to Probe to the thumbnails of all heads, in a new server and a new browser."""
    browser = lab.new_browser()
    with serve() as server:
        page = lab.new_tab(browser)
        page.goto(server.url)
        page.wait_for_selector(".stepper output")
        page.wait_for_timeout(LOOKING_MS)
        page.evaluate(PICTURE, n_heads)
        page.get_by_role("link", name="Probe").click()
        took = float(page.evaluate("window.pictured"))
        browser.close()
    return took


@benchmark("probe", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    """All heads measured on the default sample, switched off one by one and cumulatively, and stored results opened."""
    loaded, repeats = load_model(CHECKPOINTS / MODEL), lab.times(REPEATS)
    choice = default_choice(loaded.data_config)
    found, measuring = timed(lambda: measure_heads(choice, loaded, unheard, again=True), repeats)
    importance, ablating = timed(lambda: measure_importance(loaded, found.sample, unheard), repeats)
    curve, pruning = timed(lambda: measure_curve(loaded, found.sample, found.task, unheard), repeats)
    copy = copytree(CHECKPOINTS / MODEL, lab.folder / MODEL)
    stored, opening = timed(lambda: measure_heads(choice, load_model(copy), unheard), repeats)
    if stored.importance is None:
        raise AssertionError(f"{FILE} of {MODEL} is stale: python -m explorer.probing.ship {MODEL}")
    n_heads = sum(item.n_layers * item.n_heads for item in found.probe.kinds.values())
    for what, seconds, most, detail in (
        (
            f"{found.probe.sentences} sentences of {MODEL} measured",
            measuring,
            MOST_MEASURED,
            f"{n_heads} heads and {found.probe.seeds} untrained models of the same shape, with intervals",
        ),
        (
            f"{n_heads} heads of {MODEL} switched off one by one",
            ablating,
            MOST_IMPORTANCE,
            f"over {importance.sentences} sentences, with gradient scores and intervals",
        ),
        (
            f"the pruning curve of {MODEL}",
            pruning,
            MOST_CURVE,
            f"{len(curve.counts)} points on {curve.scored_on} sentences, with translations and {len(curve.random)} "
            "random orders",
        ),
        ("the model and its stored results opened", opening, MOST_STORED, "what the Probe page waits for at its first"),
    ):
        yield Row.within(f"{what}, processor time on one thread", seconds, "s", most, "on two cores", detail=detail)
    pictures = [picture_time(lab, n_heads) for _ in range(lab.times(N_VISITS))]
    yield Row.within(
        "the thumbnails of all heads, from a click on Probe in a fresh browser",
        median(pictures),
        "s",
        MOST_PICTURE,
        detail=f"median of {len(pictures)}, longest {max(pictures):.2f} s; asked for: alive within a second",
    )
