"""How long the Probe page's measurement of the default model takes, and its picture in a fresh browser.

The measurement is in processor time on one thread: an upper bound of the time on an idle machine, and not longer on a
busy one. The picture is in seconds on the clock: a busy machine makes it longer.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import process_time

from explorer.probing.importance import measure_curve
from explorer.probing.measured import measure as measure_heads
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice
from model.architectures import make_transformer
from model.checkpoint import LoadedModel, load_model
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, seconds
from tests.browser import serve
from tests.paths import CHECKPOINTS

MODEL = "multi30k-en-de"
REPEATS = 3
MOST_MEASURED, MOST_LARGE, MOST_CURVE, MOST_PICTURE = 8.0, 60.0, 30.0, 1.0  # seconds
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


def as_large(loaded: LoadedModel) -> LoadedModel:
    """A model with OPUS-MT's layers and random weights that reads like `loaded`."""
    sizes = {f"n_{side}_{part}": n for side in ("encoder", "decoder") for part, n in (("layers", 6), ("heads", 8))}
    config = replace(loaded.model_config, d_model=512, d_ff=2048, **sizes)
    return replace(loaded, model=make_transformer(config).eval())


@benchmark("probe", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    """All heads measured on the default sample and switched off cumulatively, and the thumbnails painted."""
    loaded = load_model(CHECKPOINTS / MODEL)
    measuring = partial(measure_heads, default_choice(loaded.data_config), loaded, unheard, again=True)
    found = measuring()
    pruning = partial(measure_curve, loaded, found.sample, unheard)
    n_heads = sum(item.n_layers * item.n_heads for item in found.probe.kinds.values())
    large = partial(measure_heads, default_choice(loaded.data_config), as_large(loaded), unheard, again=True)
    for what, work, most, detail in (
        (
            f"{found.probe.sentences} sentences of {MODEL} measured",
            measuring,
            MOST_MEASURED,
            f"{n_heads} heads and {found.probe.seeds} untrained models of the same shape, with intervals",
        ),
        (
            f"{found.probe.sentences} sentences of a random model with OPUS-MT's layers measured",
            large,
            MOST_LARGE,
            "144 heads and two untrained models of the same shape, with intervals of each part",
        ),
        (f"the pruning curve of {MODEL}", pruning, MOST_CURVE, "with random orders"),
    ):
        yield Row.within(
            f"{what}, processor time on one thread",
            median([seconds(work, process_time) for _ in range(lab.times(REPEATS))]),
            "s",
            most,
            "on two cores",
            detail=detail,
        )
    pictures = [picture_time(lab, n_heads) for _ in range(lab.times(N_VISITS))]
    yield Row.within(
        "the thumbnails of all heads, from a click on Probe in a fresh browser",
        median(pictures),
        "s",
        MOST_PICTURE,
        detail=f"median of {len(pictures)}, longest {max(pictures):.2f} s; asked for: alive within a second",
    )
