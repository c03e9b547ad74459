"""How long a user waits in the browser: for a step, a new sentence, the first figure after a cold start."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.registry import Row, benchmark, median, percentile
from tests.browser import Server, launch, serve, settle
from tests.paths import ROOT

SCREEN = {"width": 1366, "height": 768}
N_STEPS, N_HEADS, N_SENTENCES, N_STARTS = 60, 40, 12, 5
N_PLAYED = 300  # steps, at 60 a second
PATIENCE_MS = 120_000  # generous: a figure from a busy machine is better than none
PARTS = ("I read red books", "We eat green apples", "They buy blue cars", "You see small houses", "She reads big books")
SCRIPT = Path(__file__).with_suffix(".js")
HELLO = "import streamlit as st\nst.write('hello')\n"

# Counts the bytes of every message from the server. A script in the page sees all of them; the debugger is told of some
# too late.
COUNT = """
window.received = 0;
window.WebSocket = class extends WebSocket {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data }) => { window.received += data.byteLength ?? data.size ?? data.length; });
  }
};
"""


@contextmanager
def checkpoints() -> Iterator[dict[str, str]]:
    """The environment of a server with a model: the bundled ones, or else an untrained one created here."""
    if (ROOT / "checkpoints" / "adjective-swap" / "model.safetensors").exists():
        yield {}
        return
    from tests.explorer.toy_models import save_toy

    with tempfile.TemporaryDirectory() as folder:
        save_toy(Path(folder) / "adjective-swap", "adjective-swap")
        yield {"HEADLIGHT_CHECKPOINTS": folder}


def open_page(browser: Browser, server: Server, address: str = "/?model=adjective-swap") -> Page:
    """A new tab that has drawn attention, with the stopwatch script installed."""
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(COUNT)
    page.goto(server.url + address)
    page.wait_for_selector("figure.cross canvas")
    settle(page, PATIENCE_MS)
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    return page


def step_times(page: Page) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to the painted step, and from a key that does nothing to the next painted frame."""
    steps: list[float] = []
    frames: list[float] = []
    page.keyboard.press("Home")
    for i in range(N_STEPS):
        page.wait_for_timeout(40 if i % 10 else 400)  # mostly as fast as people step, with occasional pauses
        before = page.evaluate("__bench.label()")
        last = re.fullmatch(r"step (\d+) of \1", before)
        page.evaluate("before => __bench.arm('keydown', () => __bench.label() !== before)", before)
        page.keyboard.press("Home" if last else "ArrowRight")
        steps.append(page.evaluate("__bench.pending"))
        page.evaluate("__bench.arm('keydown', () => true)")
        page.keyboard.press("F8")
        frames.append(page.evaluate("__bench.pending"))
    return steps, frames


def dropped_frames(page: Page) -> tuple[int, int, float]:
    """Stepping 60 times a second: frames that were due, frames that were not drawn, and steps per second reached."""
    page.evaluate("__bench.play(60)")  # not measured: code that runs for the first time
    played = page.evaluate("count => __bench.play(count)", N_PLAYED)
    return played["due"], played["dropped"], N_PLAYED / played["seconds"]


def head_times(page: Page) -> list[float]:
    """Milliseconds from a click on another head to its painted map."""
    times = []
    heads = page.locator(".heads button")
    for i in range(N_HEADS):
        page.wait_for_timeout(100)
        want = heads.nth((i + 1) % heads.count())
        title = "figure.cross figcaption"
        page.evaluate(
            "([title, before]) => __bench.arm('click', () => __bench.find(title).textContent !== before)",
            [title, page.locator(title).text_content()],
        )
        want.click()
        times.append(page.evaluate("__bench.pending"))
    return times


def sentence_times(page: Page) -> tuple[list[float], list[float]]:
    """Milliseconds from Enter to the painted attention of a new 12-word sentence, and the bytes sent by the server."""
    times, sizes = [], []
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    sentences = (" ".join(parts) for parts in itertools.permutations(PARTS, 3))
    for text in itertools.islice(sentences, N_SENTENCES + 1):
        field.fill(text)
        page.wait_for_timeout(700)  # the field's own delay is not part of the measurement
        before = page.evaluate("__bench.source()")
        page.evaluate("window.received = 0")
        page.evaluate("before => __bench.arm('keydown', () => __bench.source() !== before)", before)
        field.press("Enter")
        times.append(page.evaluate("__bench.pending"))
        settle(page, PATIENCE_MS)
        sizes.append(page.evaluate("window.received"))
    return times[1:], sizes[1:]


def model_times(server_environment: dict[str, str]) -> list[float]:
    """Milliseconds of the translation alone, in this process: a lower bound for any page."""
    import torch

    from explorer.decoding.translator import Translator
    from model.checkpoint import load_model
    from model.config import DecodeConfig

    torch.set_num_threads(1)
    folder = Path(server_environment.get("HEADLIGHT_CHECKPOINTS", ROOT / "checkpoints")) / "adjective-swap"
    translator = Translator(load_model(folder))
    times = []
    for parts in itertools.islice(itertools.permutations(PARTS, 3), N_SENTENCES + 1):
        start = perf_counter()
        translator.translate(" ".join(parts), DecodeConfig())
        times.append(1000 * (perf_counter() - start))
    return times[1:]


def cold_start(browser: Browser, environment: dict[str, str], app: str, shown: str) -> float:
    """Seconds from the start of the server process until `shown` is painted in a tab opened as early as possible."""
    start = perf_counter()
    with serve(environment, app=app) as server:
        page = browser.new_page(viewport=SCREEN)
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url)
        page.wait_for_selector(shown)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        seconds = perf_counter() - start
        page.close()
    return seconds


@benchmark("page")
def measure() -> list[Row]:
    """Drive headless Chromium against `streamlit run app.py`."""
    with sync_playwright() as playwright, checkpoints() as environment, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        with serve(environment) as server:
            steps, frames = step_times(open_page(browser, server))
            due, dropped, speed = dropped_frames(open_page(browser, server))
            heads = head_times(open_page(browser, server))
            sentences, sizes = sentence_times(open_page(browser, server))
        for left in browser.contexts:  # tabs of a server that has ended try again and again to reach it
            left.close()
        alone = model_times(environment)
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO, encoding="utf-8")
        starts: dict[str, list[float]] = {"ours": [], "hello": []}
        for _ in range(N_STARTS):
            starts["ours"].append(cold_start(browser, environment, "app.py", "figure.cross canvas"))
            starts["hello"].append(cold_start(browser, {}, str(hello), "text=hello"))
        browser.close()
    return [
        Row(
            measure="a step: key to painted, headless Chromium",
            ours=median(steps),
            unit="ms",
            other=median(frames),
            against="a key that does nothing, to the next frame",
            target="≤ 20 ms",
            met=median(steps) <= 20,
            detail=f"median of {len(steps)}; 95 % within {percentile(steps, 95):.0f} ms",
        ),
        Row(
            measure="60 steps a second: frames dropped",
            ours=dropped,
            unit="frames",
            target="0",
            met=dropped == 0,
            detail=f"of {due} frames; {N_PLAYED} steps, {speed:.0f} a second",
        ),
        Row(
            measure="another head: click to painted",
            ours=median(heads),
            unit="ms",
            target="≤ 50 ms",
            met=median(heads) <= 50,
            detail=f"median of {len(heads)}; 95 % within {percentile(heads, 95):.0f} ms",
        ),
        Row(
            measure="a new 12-word sentence: Enter to painted, all heads of all layers",
            ours=median(sentences),
            unit="ms",
            other=median(alone),
            against="the translation alone, in Python",
            target="≤ 130 ms on 2 cores",
            met=median(sentences) <= 130,
            detail=f"median of {len(sentences)}; 95 % within {percentile(sentences, 95):.0f} ms",
        ),
        Row(measure="a new 12-word sentence: bytes sent to the browser", ours=median(sizes) / 1000, unit="kB"),
        Row(
            measure="a cold start: server process to the first attention painted",
            ours=median(starts["ours"]),
            unit="s",
            other=median(starts["hello"]),
            against="a Streamlit app of one line",
            target="≤ 4 s on 2 cores (goal: 3 s)",
            met=median(starts["ours"]) <= 4,
            detail=f"median of {N_STARTS}; longest {max(starts['ours']):.1f} s",
        ),
    ]
