"""A real server and a real browser, for the tests in tests/e2e and for the benchmarks."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, FloatRect, Locator, Page, Playwright, expect

from tests.paths import ROOT

LOCAL = {"localhost", "127.0.0.1", "::1"}
SCREEN = {"width": 1366, "height": 768}
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
REST_MS = 700  # without a run or a move, after which a page is at rest
# Whether the script is idle and all elements have been where they are for that long; called at every frame.
_RESTS = """([idle, ms]) => {
  const tops = [...document.querySelectorAll("[data-testid=stElementContainer]")]
    .map((element) => Math.round(element.getBoundingClientRect().top));
  const state = document.querySelector(idle) ? tops.join() : null, now = performance.now();
  if (state === null || state !== window.restState) Object.assign(window, { restState: state, restSince: now });
  return now - window.restSince > ms;
}"""
TIMEOUT_MS = 120_000  # how long a browser test waits for anything; a busy machine is not a defect
LIMIT_SECONDS = 300  # of a test without progress, as in pyproject.toml

# Follows the script runs of a tab, from the request on. Streamlit's own mark of a running script appears when the
# server has begun, which on a busy machine is long after the click: until then, the page looks as if it were at rest.
_FOLLOW_RUNS = """(([RERUN, NEW_SESSION, FINISHED, FOR_RERUN]) => {
  const runs = (window.scriptRuns = { asked: false, running: false });
  // [number of the first field after hash and metadata, its value]
  const read = (bytes) => {
    let at = 0;
    const varint = () => {
      let value = 0, shift = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * shift; shift *= 128; } while (byte > 127);
      return value;
    };
    while (at < bytes.length) {
      const field = varint() >> 3, value = varint();
      if (field > 2) return [field, value];
      at += value;
    }
    return [0, 0];
  };
  const hear = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const [field, value] = read(new Uint8Array(data));
    if (field === NEW_SESSION) Object.assign(runs, { asked: false, running: true });
    if (field === FINISHED) Object.assign(runs, { asked: runs.asked || value === FOR_RERUN, running: false });
  };
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", hear);
      this.addEventListener("close", () => Object.assign(runs, { asked: false, running: false }));
    }
    send(data) {
      if (data instanceof Uint8Array && read(data)[0] === RERUN) runs.asked = true;
      super.send(data);
    }
  };
})"""
# Whether no run is asked for or in progress, every placeholder is replaced, every component has drawn something (some
# time after Streamlit has made its container), and all this has held for three frames.
_SETTLED = """([idle]) => {
  const runs = window.scriptRuns ?? {};
  const drawn = [...document.querySelectorAll("[data-testid^=stBidiComponent]")].every(
    room => (room.shadowRoot ?? room).childElementCount);
  const still = drawn && document.querySelector(idle) && !document.querySelector("[data-testid=stSkeleton]");
  window.framesSettled = still && !runs.asked && !runs.running ? (window.framesSettled ?? 0) + 1 : 0;
  return window.framesSettled > 3;
}"""

# By name if programs are on the path (Linux), by full path otherwise (macOS, Windows).
PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"${PROGRAMFILES}\Google\Chrome\Application\chrome.exe",
    r"${LOCALAPPDATA}\Google\Chrome\Application\chrome.exe",
)

# Keeps the browser from contacting hosts by itself; its sandbox needs rights that containers do not grant.
FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
)
# Tests look at a page for seconds: Chromium without what only a window needs, if Debian's package of it is installed,
# and scripts without the optimizing compilers take a quarter less processor time. Benchmarks measure without these.
FOR_TESTS = "chromium-headless-shell"
FLAGS_FOR_TESTS = ("--js-flags=--no-turbofan --no-maglev --min-semi-space-size=64",)


def find_chromium(*, for_tests: bool = False) -> str | None:
    """The installed Chromium or Chrome; HEADLIGHT_BROWSER names another one."""
    names = (os.environ.get("HEADLIGHT_BROWSER", ""), FOR_TESTS if for_tests else "", *PROGRAMS)
    return next((path for name in names if name and (path := shutil.which(os.path.expandvars(name)))), None)


def launch(playwright: Playwright, *, for_tests: bool = False) -> Browser:
    """Headless Chromium, as a visitor has it or with little processor time `for_tests`.

    Raises:
        RuntimeError: none is installed.
    """
    path = find_chromium(for_tests=for_tests)
    if path is None:
        raise RuntimeError("no Chromium found; install it, or name it in HEADLIGHT_BROWSER")
    flags = FLAGS + (FLAGS_FOR_TESTS if for_tests else ())
    return playwright.chromium.launch(executable_path=path, args=list(flags), timeout=TIMEOUT_MS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """One `streamlit run app.py` process, started as a user would, on its own port."""

    port: int
    process: subprocess.Popen[bytes]
    log: IO[bytes]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def output(self) -> str:
        self.log.flush()
        return Path(self.log.name).read_text(encoding="utf-8", errors="replace")

    def wait_until_healthy(self, seconds: float = LIMIT_SECONDS) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with code {self.process.returncode}:\n{self.output()}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=20) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise RuntimeError(f"the server was not up after {seconds:.0f} s:\n{self.output()}")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)


@contextmanager
def serve(environment: Mapping[str, str] | None = None, *, app: str = "app.py") -> Iterator[Server]:
    """Start a new server process and stop it at the end; `environment` is added to that of this process."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", app]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder, (Path(folder) / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        server = Server(port, process, log)
        try:
            server.wait_until_healthy()
            yield server
        finally:
            server.stop()


@dataclass
class Watch:
    """Records what the pages of a browser context do invisibly: requests, errors, dialogs, policy violations."""

    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # violations of the Content-Security-Policy
    origins: set[str] = field(default_factory=set)  # on this machine, such as http://localhost:8501

    def follow(self, context: BrowserContext) -> None:
        context.on("request", lambda request: self._note(request.url))
        context.on("page", self._follow_page)

    def _follow_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("console", self._listen)

    def _listen(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(message.text)

    def taken(self) -> list[str]:
        """Each recorded problem in words; the records are cleared."""
        kinds = {
            "a request to another host": self.foreign,
            "a script that failed": self.errors,
            "a dialog": self.dialogs,
            "refused by the Content-Security-Policy": self.refused,
        }
        problems = [f"{kind}: {what}" for kind, records in kinds.items() for what in records]
        for records in kinds.values():
            records.clear()
        return problems

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "ws", "wss"):
            return
        if parts.hostname in LOCAL:
            self.origins.add(f"{parts.scheme.replace('ws', 'http')}://{parts.netloc}")
        else:
            self.foreign.append(url)


def new_profile(browser: Browser, **options: Any) -> BrowserContext:
    """A new browser profile, whose tabs follow their script runs for `settle`.

    Its pages stand still: without a GPU, Streamlit's signs of loading, which are drawn sixty times a second, would
    take as much processor time as loading does.
    """
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    numbers = [
        BackMsg.RERUN_SCRIPT_FIELD_NUMBER,
        ForwardMsg.NEW_SESSION_FIELD_NUMBER,
        ForwardMsg.SCRIPT_FINISHED_FIELD_NUMBER,
        ForwardMsg.FINISHED_EARLY_FOR_RERUN,
    ]
    context = browser.new_context(**{"viewport": SCREEN, "reduced_motion": "reduce"} | options)
    context.add_init_script(f"{_FOLLOW_RUNS}({numbers})")
    return context


def progress() -> None:
    """Start the time limit of the running test anew: a test that goes on, however slowly, is not stuck."""
    if hasattr(signal, "setitimer") and signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS)


def settle(page: Page, timeout_ms: float = TIMEOUT_MS) -> None:
    """Wait until the script runs that were asked for have ended and their result is painted."""
    page.evaluate("() => { window.framesSettled = 0; }")
    page.wait_for_function(_SETTLED, arg=[IDLE], timeout=timeout_ms)
    progress()


def box_of(place: Locator) -> FloatRect:
    box = place.bounding_box()
    assert box is not None, "it is not drawn"
    return box


def click_cell(canvas: Locator, row: int, column: int) -> None:
    """Click a cell of a map, counted from 0, off its centre, where no number is written.

    The page may still move, as a panel below or above is drawn: the click waits until the map stands still.
    """
    expect(canvas).to_have_attribute("data-plot", re.compile(","))
    canvas.scroll_into_view_if_needed()
    before = None
    while (now := (canvas.bounding_box(), canvas.get_attribute("data-plot"))) != before:
        before = now
        canvas.page.wait_for_timeout(300)
    left, top, cell, *_ = map(float, (now[1] or "").split(","))
    canvas.click(position={"x": left + (column + 0.5) * cell, "y": top + (row + 0.2) * cell})


def rest(page: Page, timeout_ms: float = TIMEOUT_MS) -> None:
    """Wait until no script has run and nothing has moved for a while.

    Views report up to 250 ms after the last move, which starts another run; charts take their height when they are
    drawn, after the run.
    """
    settle(page, timeout_ms)
    page.evaluate("() => { window.restState = null; }")
    page.wait_for_function(_RESTS, arg=[IDLE, REST_MS], timeout=timeout_ms)


def download(page: Page, button: str, folder: Path) -> Path:
    """Press a download button and save the file to `folder`.

    Streamlit gives each button another file with every run and forgets the earlier one as the run ends. A press during
    a run may therefore ask for a file that no longer exists.
    """
    rest(page)
    with page.expect_download(timeout=TIMEOUT_MS) as coming:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path
