"""The window of its own, a real one on Qt's offscreen screen, driven through its debugging port.

Skipped where pywebview and Qt are missing, as on the CI machine: `pip install .[desktop]` brings them. Playwright
cannot speak to Qt's browser, so this file speaks the protocol itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.sync.client import connect

from tests.browser import free_port
from tests.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_spec("webview") and find_spec("PySide6")), reason="pywebview and PySide6 are not installed"
    ),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, the window has another engine"),
]

PATIENCE = 90.0  # seconds; a busy machine is not a defect
END_SECONDS = 3.0
TEXT = "document.body?.innerText ?? ''"
# Finds elements in the shadows of components, too.
EVERY = """window.every = (selector, root = document) => [...root.querySelectorAll("*")].flatMap((one) =>
  [...(one.matches(selector) ? [one] : []), ...(one.shadowRoot ? every(selector, one.shadowRoot) : [])])"""


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until a call returns something; returns it."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it has not come to pass"
        time.sleep(0.05)
    return found


class Window:
    """`python -m explorer --window` and the line to its debugging port."""

    def __init__(self, home: Path, port: int) -> None:
        self.home, debugging = home, free_port()
        variables = {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_RUNTIME_DIR": str(home / "runtime"),
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_REMOTE_DEBUGGING": f"127.0.0.1:{debugging}",
            "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox",
            "BROWSER": str(home / "browser"),
        }
        self.log = (home / f"{debugging}.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "explorer", "--window", "--port", str(port), "--model", "reverse"],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        self.stack = ExitStack()
        self.stack.callback(self.process.wait)
        self.stack.callback(self.process.kill)
        try:
            self._connect(debugging)
        except BaseException:
            self.stack.close()
            raise

    def _connect(self, debugging: int) -> None:
        self._line = self.stack.enter_context(connect(until(lambda: self._page(debugging)), max_size=None))
        self._number = 0
        until(lambda: "Size and scores" in self.evaluate(TEXT))
        self.evaluate(EVERY)
        (self.server,) = [
            child for child in psutil.Process(self.process.pid).children() if "streamlit" in child.cmdline()
        ]

    def _page(self, port: int) -> str:
        assert self.process.poll() is None, self.said()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = [entry for entry in json.load(answer) if entry["url"].startswith("http://localhost")]
                return pages[0]["webSocketDebuggerUrl"] if pages else ""
        except (urllib.error.URLError, OSError):
            return ""

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._line.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (answer := json.loads(self._line.recv(PATIENCE))).get("id") != self._number:
            pass
        result: dict[str, Any] = answer["result"]
        return result

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page, evaluated as if the user had just clicked."""
        told = self._call("Runtime.evaluate", expression=code, userGesture=True, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def said(self) -> str:
        """What the command has printed so far."""
        return Path(self.log.name).read_text(encoding="utf-8")


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Callable[[], Window]]:
    (tmp_path / "runtime").mkdir(mode=0o700)
    (tmp_path / "Downloads").mkdir()
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{tmp_path}/opened"\n', encoding="utf-8")
    browser.chmod(0o755)
    port, opened = free_port(), []

    def start() -> Window:
        opened.append(Window(tmp_path, port))
        return opened[-1]

    yield start
    for one in opened:
        one.stack.close()


def test_the_window(window: Callable[[], Window]) -> None:
    first = window()
    home = first.home
    assert "Headlight" in first.evaluate("document.title")

    button = "every('button').find((one) => one.textContent === 'Copy link')"
    until(lambda: first.evaluate(f"{button} !== undefined && {button}.onclick !== null"))
    first.evaluate(f"{button}.click()")
    until(lambda: "Copied: it opens" in first.evaluate("every('output').map((one) => one.textContent).join()"))

    first.evaluate(
        "{ const a = document.createElement('a'); a.download = 'numbers.csv';"
        " a.href = URL.createObjectURL(new Blob(['1,2'])); a.click() }"
    )
    until(lambda: (home / "Downloads" / "numbers.csv").is_file())
    assert until((home / "Downloads" / "numbers.csv").read_text) == "1,2"

    first.evaluate(
        "{ const a = document.createElement('a'); a.target = '_blank'; a.href = 'https://a.test/'; a.click() }"
    )
    assert until(lambda: (home / "opened").is_file() and (home / "opened").read_text()) == "https://a.test/\n"
    assert first.evaluate("location.host").startswith("localhost")

    before = first.evaluate("innerWidth")
    first.evaluate("document.documentElement.requestFullscreen().then(() => 1)")
    assert first.evaluate("document.fullscreenElement !== null")
    until(lambda: first.evaluate("innerWidth") != before)
    first.evaluate("document.exitFullscreen().then(() => 1)")
    until(lambda: first.evaluate("innerWidth") == before)

    # What a page keeps, such as the theme, is there again after a restart; closing ends the server.
    first.evaluate("localStorage.setItem('kept', 'yes')")
    time.sleep(1.0)  # the browser writes it a moment later
    begun = time.monotonic()
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(PATIENCE) == 0
    assert time.monotonic() - begun < END_SECONDS
    assert not first.server.is_running()
    assert "Headlight has ended.\n" in first.said()
    second = window()
    assert second.evaluate("localStorage.getItem('kept')") == "yes"

    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(PATIENCE) == 0

    # A killed window takes its server along.
    third = window()
    third.process.kill()
    until(lambda: not third.server.is_running(), 2 * END_SECONDS)
