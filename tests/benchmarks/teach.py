"""The response time of sliders on the teaching pages, until the browser has painted the result."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from playwright.sync_api import Page

from tests.benchmarks.lab import PATIENCE_MS, Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, percentile
from tests.browser import settle

MODEL, TEXT = "reverse", "abcdefghijklmnop"  # as long as the model's longest training sentence
N_WARM_UP, N_MOVES = 2, 12

# Page, tab, and the label of a slider or switch.
SLIDES = (
    ("positions", "The table", "d_model"),
    ("positions", "The table", "Length"),
    ("positions", "The table", "Base"),
    ("positions", "One word", "Token"),
    ("positions", "The rotation", "Offset k"),
    ("positions", "Shuffle the words", "Shuffle number"),
    ("masks", "The masks", "Causal mask"),
    ("masks", "Given target", "Lift the causal mask"),
    ("inside", "Layer by layer", "Step"),
    ("inside", "Sizes", "d_model"),
)
# The keys of those that do not go forth and back; a slider at its end can only go back.
KEYS = {"Causal mask": ("Space",) * 2, "Lift the causal mask": ("Space",) * 2, "Step": ("ArrowLeft",) * 2}
QUIET_MS = 400  # the response counts as complete after this long without a change or a running script
SCRIPT = Path(__file__).with_suffix(".js")


@benchmark("teach")
def measure(lab: Lab) -> Iterator[Row]:
    """From the key that moves a slider to the last frame that it changed, all figures and tables drawn."""
    url, warm = lab.serve().url, False
    for name, slides in groupby(SLIDES, key=itemgetter(0)):
        page = lab.open(f"{url}/{name}?model={MODEL}&text={TEXT}")
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
        wanted = list(slides)[: lab.times(len(SLIDES))]
        if not warm:  # the first moves on a fresh server and browser are slower
            slide(lab, page, *wanted[0])
            warm = True
        for each in wanted:
            yield slide(lab, page, *each)
        page.close()


def slide(lab: Lab, page: Page, name: str, tab: str, label: str) -> Row:
    page.get_by_role("tab", name=tab, exact=True).click()
    settle(page, PATIENCE_MS)
    keys = KEYS.get(label, ("ArrowRight", "ArrowLeft"))
    thumb = page.get_by_role("switch" if "Space" in keys else "slider", name=label).first
    thumb.focus()
    if label == "Step":
        thumb.press("End")  # every step back from here gives a new value
    answered(page)
    times, sent = [], []
    for move in range(N_WARM_UP + lab.times(N_MOVES)):
        thumb.press(keys[move % 2])
        told, took = answered(page)
        if not took:
            raise AssertionError(f"nothing on the page changed when {label} was moved")
        times.append(took)
        sent.append(told)
    times, sent = times[N_WARM_UP:], sent[N_WARM_UP:]
    return Row.within(
        f"a move of {label} on {name}, {tab}, in the browser",
        median(times),
        "ms",
        300,
        "on 2 cores",
        detail=f"median of {len(times)} key presses to the last changed frame, "
        f"95 % within {percentile(times, 95):.0f} ms; the server is told after {median(sent):.0f} ms",
    )


def answered(page: Page) -> tuple[float, float]:
    """Wait until nothing changes: milliseconds from the last key to the message to the server, and to the end."""
    told, took = page.evaluate(f"__slide.answered({QUIET_MS})")
    return float(told), float(took)
