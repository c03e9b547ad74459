"""How long the machine on Inside takes: a step and a block opened in the browser, and what the server computes for it.

Times run from the input event to the end of the frame that shows its effect, in headless Chromium, for the default
model: 4 + 4 layers, one of them unfolded on each side.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.page import PATIENCE_MS, SCREEN, SCRIPT
from tests.benchmarks.registry import Row, benchmark, median, percentile
from tests.browser import launch, serve, settle

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
_OPEN = "title => __bench.arm('click', () => __bench.find('.panel h3').textContent === title)"
# The weights of a head are drawn from numbers that the server sends for the open block.
_HEADS = """title => __bench.arm('click', () => {
  if (__bench.find('.panel h3').textContent !== title) return false;
  const inside = __bench.find('.block.open .inside');
  return inside && [...inside.querySelectorAll('canvas')].every(canvas => canvas.style.visibility !== 'hidden');
})"""


def step_times(page: Page) -> list[float]:
    """Milliseconds from an arrow key to the painted step, forth and back."""
    times = []
    page.get_by_role("button", name="To the first step").click()
    way = "ArrowRight"
    for _ in range(N_STEPS):
        page.wait_for_timeout(400)  # the report of the last step is not part of the measurement
        before = page.evaluate("__bench.label()")
        if re.fullmatch(r"step (\d+) of \1", before):
            way = "ArrowLeft"
        elif before.startswith("step 1 "):
            way = "ArrowRight"
        page.evaluate("before => __bench.arm('keydown', () => __bench.label() !== before)", before)
        page.keyboard.press(way)
        times.append(page.evaluate("__bench.pending"))
    return times


def opening_times(page: Page, names: Sequence[str], shown: str) -> list[float]:
    """Milliseconds from a click on a block to what it opens, painted, by blocks of these names in turn."""
    times = []
    blocks = page.locator(".diagram")
    for name in itertools.islice(itertools.cycle(names), N_OPENED):
        page.wait_for_timeout(600)
        page.evaluate(shown, name)
        blocks.get_by_role("button", name=name, exact=True).click()
        times.append(page.evaluate("__bench.pending"))
    return times


def sentence_times(page: Page) -> list[float]:
    """Milliseconds from Enter to the painted machine of a new sentence."""
    times = []
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    for text in SENTENCES:
        field.fill(text)
        page.wait_for_timeout(700)  # the field's own delay
        words = "() => [...__bench.find('.source .tokens').querySelectorAll('bdi')].map(e => e.textContent).join('|')"
        before = page.evaluate(words)
        page.evaluate(f"before => __bench.arm('keydown', () => ({words})() !== before)", before)
        field.press("Enter")
        times.append(page.evaluate("__bench.pending"))
        settle(page, PATIENCE_MS)
    return times[1:]


@benchmark("machine")
def measure() -> list[Row]:
    """Drive headless Chromium against the Inside page of the default model."""
    with sync_playwright() as playwright, serve({}) as server:
        browser = launch(playwright)
        page = browser.new_page(viewport=SCREEN)
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url + ADDRESS)
        page.wait_for_selector(".machine .block")
        settle(page, PATIENCE_MS)
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
        measured = (
            ("a step: key to painted", step_times(page), MOST_IN_BROWSER),
            ("a block opened: click to painted", opening_times(page, _BLOCKS, _OPEN), MOST_IN_BROWSER),
            (
                "an attention block opened into its heads: click to painted",
                opening_times(page, _ATTENTION, _HEADS),
                MOST_BY_SERVER,
            ),
            ("a new sentence: Enter to painted", sentence_times(page), MOST_BY_SERVER),
        )
        browser.close()
    return [
        Row(
            measure=f"the machine of {MODEL}, {what}",
            ours=median(times),
            unit="ms",
            target=f"≤ {most:g} ms",
            met=median(times) <= most,
            detail=f"median of {len(times)}; 95 % within {percentile(times, 95):.0f} ms",
        )
        for what, times, most in measured
    ]
