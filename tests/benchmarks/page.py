"""How long a user waits in the browser: for a step, a new sentence, the first figure after a cold start."""

import itertools
import re
from collections.abc import Iterator
from functools import partial
from time import perf_counter

from playwright.sync_api import Page

from tests.benchmarks.lab import Lab, until_changed, until_painted, until_translated
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, seconds, spread
from tests.browser import serve
from tests.paths import CHECKPOINTS

MODEL, DRAWN = "adjective-swap", "figure.cross canvas"
N_STEPS, N_HEADS, N_SENTENCES, N_STARTS = 60, 40, 12, 5
PARTS = ("I read red books", "We eat green apples", "They buy blue cars", "You see small houses", "She reads big books")


def step_times(page: Page, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to the painted step, and from a key that does nothing to the next painted frame."""
    steps: list[float] = []
    frames: list[float] = []
    page.keyboard.press("Home")
    for i in range(count):
        page.wait_for_timeout(40 if i % 10 else 400)  # mostly as fast as people step, with occasional pauses
        key = "Home" if re.fullmatch(r"step (\d+) of \1", page.evaluate("__bench.label()")) else "ArrowRight"
        steps.append(until_changed(page, "keydown", partial(page.keyboard.press, key), "__bench.label()"))
        frames.append(until_painted(page, "keydown", partial(page.keyboard.press, "F8"), "true"))
    return steps, frames


def head_times(page: Page, count: int) -> list[float]:
    times = []
    heads = page.locator(".heads button")
    for i in range(1, count + 1):
        page.wait_for_timeout(100)
        want = heads.nth(i % heads.count())
        times.append(until_changed(page, "click", want.click, "__bench.find('figure.cross figcaption').textContent"))
    return times


def sentence_times(page: Page, sentences: list[str]) -> list[float]:
    return [until_translated(page, text, "__bench.source()") for text in sentences][1:]


def model_times(sentences: list[str]) -> list[float]:
    """Milliseconds of the translation alone, in this process: a lower bound for any page."""
    from explorer.decoding.translator import Translator
    from model.checkpoint import load_model
    from model.config import DecodeConfig

    translator = Translator(load_model(CHECKPOINTS / MODEL))
    return [1000 * seconds(partial(translator.translate, text, DecodeConfig())) for text in sentences][1:]


def cold_start(lab: Lab, app: str, shown: str) -> float:
    """Seconds from the start of the server process until `shown` is painted in a tab opened as early as possible."""
    start = perf_counter()
    with serve(app=app) as server:
        page = lab.new_tab()
        page.goto(server.url)
        page.wait_for_selector(shown)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        took = perf_counter() - start
        page.close()
    return took


@benchmark("page", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    order = itertools.permutations(PARTS, 3)
    sentences = [" ".join(parts) for parts in itertools.islice(order, lab.times(N_SENTENCES) + 1)]
    with serve() as server:
        new = partial(lab.open, f"{server.url}/?model={MODEL}", DRAWN)
        steps, frames = step_times(new(), lab.times(N_STEPS))
        heads = head_times(new(), lab.times(N_HEADS))
        times = sentence_times(new(), sentences)
    for left in lab.browser.contexts:  # tabs of a server that has ended try again and again to reach it
        left.close()
    yield Row.within(
        "a step: key to painted, headless Chromium",
        median(steps),
        "ms",
        20,
        other=median(frames),
        against="a key that does nothing, to the next frame",
        detail=spread(steps),
    )
    yield Row.within("another head: click to painted", median(heads), "ms", 50, detail=spread(heads))
    yield Row.within(
        "a new 12-word sentence: Enter to painted, all heads of all layers",
        median(times),
        "ms",
        130,
        "on 2 cores",
        other=median(model_times(sentences)),
        against="the translation alone, in Python",
        detail=spread(times),
    )
    starts = range(lab.times(N_STARTS))
    pairs = [(cold_start(lab, "app.py", DRAWN), cold_start(lab, lab.hello, "text=hello")) for _ in starts]
    ours, hello = zip(*pairs, strict=True)
    yield Row.within(
        "a cold start: server process to the first attention painted",
        median(ours),
        "s",
        4,
        target="≤ 4 s on 2 cores (goal: 3 s)",
        other=median(hello),
        against="a Streamlit app of one line",
        detail=f"median of {len(ours)}; longest {max(ours):.1f} s",
    )
