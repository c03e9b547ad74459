"""How long the machine on Inside takes: a step and a block opened in the browser, and what the server computes for it.

Times run from the input event to the end of the frame that shows its effect, in headless Chromium, for the default
model: 4 + 4 layers, one of them unfolded on each side.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import partial

from playwright.sync_api import Page

from tests.benchmarks.lab import Lab, until_changed, until_painted, until_translated
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, spread

MODEL = "multi30k-en-de"
ADDRESS = f"/inside?model={MODEL}"
SENTENCES = (
    "A dog runs on the beach.",
    "Two men sit on a bench.",
    "A woman reads a red book.",
    "Children play football.",
)
N_STEPS, N_OPENED = 40, 12
MOST_IN_BROWSER, MOST_BY_SERVER = 50.0, 300.0  # ms, as asked for
_BLOCKS = ("Embedding, source", "Positions, source", "Feed-forward, encoder layer 1", "Linear", "Softmax", "Next word")
_ATTENTION = ("Encoder self-attention, encoder layer 1", "Cross-attention, decoder layer 1")
_OPEN = "__bench.find('.panel h3').textContent === value"
# The weights of a head are drawn from numbers that the server sends for the open block.
_HEADS = f"""{_OPEN} && __bench.find('.block.open .inside') &&
  [...__bench.find('.block.open .inside').querySelectorAll('canvas')].every(each => each.style.visibility !== 'hidden')
"""
_SOURCE = "[...__bench.find('.source .tokens').querySelectorAll('bdi')].map(e => e.textContent).join('|')"


def step_times(page: Page, steps: int) -> Iterator[float]:
    """Milliseconds from an arrow key to the painted step, forth and back."""
    page.get_by_role("button", name="To the first step").click()
    way = "ArrowRight"
    for _ in range(steps):
        page.wait_for_timeout(400)  # the report of the last step is not part of the measurement
        before = page.evaluate("__bench.label()")
        if re.fullmatch(r"step (\d+) of \1", before):
            way = "ArrowLeft"
        elif before.startswith("step 1 "):
            way = "ArrowRight"
        yield until_changed(page, "keydown", partial(page.keyboard.press, way), "__bench.label()")


def opening_times(page: Page, names: Sequence[str], shown: str, opened: int) -> Iterator[float]:
    """Milliseconds from a click on a block to what it opens, painted, by blocks of these names in turn."""
    for name in itertools.islice(itertools.cycle(names), opened):
        page.wait_for_timeout(600)
        block = page.locator(".diagram").get_by_role("button", name=name, exact=True)
        yield until_painted(page, "click", block.click, shown, name)


@benchmark("machine")
def measure(lab: Lab) -> Iterator[Row]:
    """Drive headless Chromium against the Inside page of the default model."""
    page = lab.open(lab.serve().url + ADDRESS, ".machine .block")
    opened = lab.times(N_OPENED)
    for what, times, most in (
        ("a step: key to painted", step_times(page, lab.times(N_STEPS)), MOST_IN_BROWSER),
        ("a block opened: click to painted", opening_times(page, _BLOCKS, _OPEN, opened), MOST_IN_BROWSER),
        (
            "an attention block opened into its heads: click to painted",
            opening_times(page, _ATTENTION, _HEADS, opened),
            MOST_BY_SERVER,
        ),
        (
            "a new sentence: Enter to painted",
            itertools.islice((until_translated(page, text, _SOURCE) for text in SENTENCES), 1, None),
            MOST_BY_SERVER,
        ),
    ):
        found = list(times)
        yield Row.within(f"the machine of {MODEL}, {what}", median(found), "ms", most, detail=spread(found))
