"""The site, whose pages compute: what a visitor waits for on one core and on a quarter of one, beside the app; sizes.

A web server that has only files and the browser share one core. For a quarter of it, the browser is stopped three
quarters of the time: its own throttling leaves out workers. Needs Linux.
"""

import gzip
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from explorer.site.command import main as write_site
from tests.benchmarks.lab import PATIENCE_MS, STOPWATCH, Lab, until_painted, until_translated
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.results import number
from tests.benchmarks.timing import median
from tests.browser import FLAGS, SCREEN, find_chromium, free_port, serve, settle

MODEL = "multi30k-en-de"
N_VISITS, N_SENTENCES, N_FORKS, WARM_UP = 5, 12, 9, 3
QUARTER, PERIOD = 0.25, 0.1  # seconds
APP = "the app, its server on all cores"
REST_MS = 1000  # in which memory is given back

WHERE = ("through the deep snow", "across the green field", "along the sandy beach", "down the busy street")
WHO = ("A brown dog", "A young man", "An old woman", "A little girl", "A tall boy", "The black horse")
WITH = ("a ball", "a stick", "a friend", "a flag")

DONE = "document.querySelector('.desk:not(.busy) .opened:not([hidden])')"
CHIPS = "(line => [...document.querySelectorAll('.desk .view > div')].map(({ shadowRoot }) => shadowRoot"
CHIPS += ".querySelector('.line.' + line + ' .chips')?.textContent).join())"
# Notes when the first answer is painted, and how long the worker takes to answer.
WATCH = """
window.answers = [];
window.Worker = class extends Worker {
  begun = new Map();
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data: { id, answer } }) => {
      const { what, at } = this.begun.get(id);
      window.answers.push({ what, ms: performance.now() - at, tokens: answer?.path?.length });
    });
  }
  postMessage(message, ...more) {
    this.begun.set(message.id, { what: message.what, at: performance.now() });
    super.postMessage(message, ...more);
  }
};
const look = () => requestAnimationFrame(() => {
  if (!DONE) return look();
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { window.painted = performance.now(); };
  channel.port2.postMessage(0);
});
look();
""".replace("DONE", DONE)


def sentences() -> list[str]:
    return [f"{who} is running {where} with {what}." for where, who, what in itertools.product(WHERE, WHO, WITH)]


@dataclass
class Core:
    """One core with a web server and a browser, which may be held to a share of it."""

    browser: Browser
    url: str
    first: Path  # has the id of the browser's first process

    def processes(self) -> list[psutil.Process]:
        first = psutil.Process(int(self.first.read_text()))
        return [first, *first.children(recursive=True)]

    @contextmanager
    def held(self, share: float) -> Iterator[None]:
        """Hold the browser to a share of the core inside the block."""
        ended = Event()
        thread = Thread(target=self._stop_and_continue, args=(share, ended))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _stop_and_continue(self, share: float, ended: Event) -> None:
        while not ended.wait(share * PERIOD):
            processes = self.processes()
            for sent, pause in ((signal.SIGSTOP, (1 - share) * PERIOD), (signal.SIGCONT, 0)):
                for process in processes:
                    if process.is_running():
                        process.send_signal(sent)
                time.sleep(pause)


@contextmanager
def core(folder: Path, site: Path) -> Iterator[Core]:
    """Start both on the last core that this process may use.

    Raises:
        RuntimeError: there is no Chromium.
    """
    pinned = ["taskset", "-c", f"{max(os.sched_getaffinity(0))}"]
    program = find_chromium()
    if program is None:
        raise RuntimeError("no Chromium found; install it, or name it in HEADLIGHT_BROWSER")
    first, starter = folder / "first", folder / "browser"
    with ExitStack() as stack:
        lines = ["#!/bin/sh", f"echo $$ > {shlex.quote(str(first))}", f'exec {shlex.join([*pinned, program])} "$@"\n']
        starter.write_text("\n".join(lines))
        starter.chmod(0o755)
        chromium = stack.enter_context(sync_playwright()).chromium
        browser = chromium.launch(executable_path=starter, args=list(FLAGS))
        stack.callback(browser.close)
        port = free_port()
        command = [*pinned, sys.executable, "-m", "http.server", f"{port}", "--directory", str(site)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(server.wait)
        stack.callback(server.terminate)
        url = f"http://localhost:{port}/"
        while not _answers(url):
            time.sleep(0.05)
        yield Core(browser, url, first)


def _answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}service-worker.js").read())
    except OSError:
        return False


def visit(on: Core, text: str) -> Page:
    """A tab with empty caches in which the first answer has been painted, with the stopwatch script installed."""
    page = on.browser.new_context(viewport=SCREEN).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(WATCH)
    page.goto(f"{on.url}?{urlencode({'model': MODEL, 'text': text})}")
    page.wait_for_function("() => window.painted")
    page.evaluate(STOPWATCH.read_text(encoding="utf-8"))
    return page


def first_visits(on: Core, text: str, count: int) -> list[float]:
    times = []
    for _ in range(count):
        page = visit(on, text)
        times.append(float(page.evaluate("window.painted")))
        page.context.close()
    return times


def until_answered(page: Page, event: str, act: Callable[[], object], line: str) -> float:
    """Milliseconds from an input event on the site to the painted line of other words, the source or the target."""
    words = f"{CHIPS}('{line}')"
    return until_painted(page, event, act, f"{DONE} && {words} !== value", page.evaluate(words))


def on_site(page: Page, text: str) -> float:
    """Milliseconds from Enter to the painted attention of a sentence."""
    field = page.get_by_role("textbox", name="Sentence")
    field.fill(text)
    page.wait_for_timeout(700)  # as in the app, where the field has a delay of its own
    return until_answered(page, "keydown", lambda: field.press("Enter"), "source")


def fork(page: Page, step: int) -> float:
    """Milliseconds from a click on the second likeliest word at a step to the painted other translation."""
    page.locator(".stepper .steps").press("Home")
    for _ in range(1, step):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    took = until_answered(page, "click", page.locator(".options button").nth(1).click, "target")
    page.locator(".back").click()
    expect(page.locator(".back")).to_be_hidden()
    return took


@dataclass
class Times:
    visits: list[float]
    site: list[float]
    app: list[float]
    tokens: list[float]  # the worker's
    forks: list[float]


def times(on: Core, app: str, supply: Iterator[str], n_visits: int, n_sentences: int, n_forks: int) -> Times:
    visits = first_visits(on, next(supply), n_visits)
    page, other = visit(on, next(supply)), on.browser.new_page(viewport=SCREEN)
    other.set_default_timeout(PATIENCE_MS)
    other.goto(f"{app}/?{urlencode({'model': MODEL, 'text': next(supply)})}")
    other.wait_for_selector("figure.cross canvas")
    settle(other, PATIENCE_MS)
    other.evaluate(STOPWATCH.read_text(encoding="utf-8"))
    found = Times(visits, [], [], [], [])
    for text in itertools.islice(supply, WARM_UP + n_sentences):
        found.site.append(on_site(page, text))
        found.app.append(until_translated(other, text, "__bench.source()"))
    answers = page.evaluate("answers.filter(({ what }) => what === 'decode')")
    found.tokens = [answer["ms"] / answer["tokens"] for answer in answers][1 + WARM_UP :]
    found.forks = [fork(page, 1 + step) for step in range(n_forks)]
    found.site, found.app = found.site[WARM_UP:], found.app[WARM_UP:]
    page.context.close()
    other.close()
    return found


def memory(on: Core, supply: Iterator[str]) -> tuple[float, float]:
    """Megabytes of the process of the page and its worker after sentences and a fork: at once, and what is in use."""
    page = visit(on, next(supply))
    for text in itertools.islice(supply, N_SENTENCES):
        on_site(page, text)
    fork(page, 3)

    def footprint() -> float:
        found = [process.memory_info() for process in on.processes() if "--type=renderer" in process.cmdline()]
        return float(max(each.rss - each.shared for each in found)) / 1e6

    at_once = footprint()
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    page.wait_for_timeout(REST_MS)
    in_use = footprint()
    page.context.close()
    return at_once, in_use


def sizes(site: Path) -> tuple[float, float]:
    """Megabytes of all files, and compressed kilobytes of what the first screen runs: scripts, looks and templates."""
    everything = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    (program,) = (site / "code").glob("site-*")
    page = (site / "index.html").read_text(encoding="utf-8")
    own = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)  # data: models and glossary
    code = sum(len(gzip.compress(content, mtime=0)) for content in (program.read_bytes(), own.encode()))
    return everything / 1e6, code / 1e3


def spread(values: Sequence[float]) -> str:
    return f"median of {len(values)}, {number(min(values))} to {number(max(values))}"


@benchmark("live")
def measure(lab: Lab) -> list[Row]:
    counts = [lab.times(count) for count in (N_VISITS, N_SENTENCES, N_FORKS)]
    expect.set_options(timeout=PATIENCE_MS)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = folder / "site"
        with redirect_stdout(sys.stderr):
            write_site([str(site), "--examples", "0"])
        on, app = stack.enter_context(core(folder, site)), stack.enter_context(serve())
        supply = iter(sentences())
        visit(on, next(supply)).context.close()  # not measured: the browser's first page
        whole = times(on, app.url, supply, *counts)
        with on.held(QUARTER):
            quarter = times(on, app.url, supply, *counts)
        at_once, in_use = memory(on, supply)
        everything, code = sizes(site)
    held = "the browser's processes stopped three quarters of the time"

    def row(measure: str, ours: list[float], most: float, slow: list[float], other: list[float] | None = None) -> Row:
        beside = {"other": median(other), "against": APP} if other else {}
        detail = f"{spread(ours)}; a quarter of a core: {spread(slow)}"
        return Row.within(f"{MODEL}: {measure}", median(ours), "ms", most, detail=detail, **beside)

    return [
        row("a first visit, to a computed translation painted, one core", whole.visits, 1500, quarter.visits),
        row("twelve words, Enter to painted, one core", whole.site, 120, quarter.site, whole.app),
        Row.within(
            f"{MODEL}: twelve words, Enter to painted, a quarter of a core",
            median(quarter.site),
            "ms",
            500,
            other=median(quarter.app),
            against=APP,
            detail=f"{spread(quarter.site)}; {held}",
        ),
        row("one step: the worker's time a token, one core", whole.tokens, 8, quarter.tokens),
        row("a fork, click to painted, one core", whole.forks, 60, quarter.forks),
        Row.within(
            f"{MODEL}: memory of the page and its worker",
            in_use,
            "MB",
            150,
            detail=f"of their process, without the program's own file, after {N_SENTENCES} sentences and a fork; "
            f"{at_once:.0f} MB before the page collects what it no longer uses",
        ),
        Row.within("all models: the folder without recorded examples", everything, "MB", 30),
        Row.within(
            "code of the first screen, compressed",
            code,
            "kB",
            120,
            detail="gzip; scripts of page and worker, looks and templates of all views",
        ),
    ]
