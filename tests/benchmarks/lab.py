"""What benchmarks measure with: servers, a browser and tabs with a stopwatch, all closed when the benchmark ends."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from tests.browser import SCREEN, Server, launch, serve, settle

PATIENCE_MS = 180_000  # generous: a figure from a busy machine is better than none
STOPWATCH = Path(__file__).with_name("stopwatch.js")


class Lab(ExitStack):
    """Each part is made when it is first asked for. A `short` trial shows only that a benchmark still works."""

    def __init__(self, *, short: bool = False) -> None:
        super().__init__()
        self.short = short

    def times(self, wanted: int) -> int:
        """How often to repeat what is repeated this often."""
        return min(wanted, 2) if self.short else wanted

    @cached_property
    def folder(self) -> Path:
        return Path(self.enter_context(TemporaryDirectory()))

    @cached_property
    def hello(self) -> str:
        path = self.folder / "hello.py"
        path.write_text("import streamlit as st\nst.write('hello')\n", encoding="utf-8")
        return str(path)

    def serve(self, environment: dict[str, str] | None = None, *, app: str = "app.py") -> Server:
        return self.enter_context(serve(environment, app=app))

    @cached_property
    def _playwright(self) -> Playwright:
        return self.enter_context(sync_playwright())

    @cached_property
    def browser(self) -> Browser:
        return self.new_browser()

    def new_browser(self) -> Browser:
        browser = launch(self._playwright)
        self.callback(browser.close)
        return browser

    def new_tab(self, browser: Browser | None = None, script: str = "") -> Page:
        """An empty tab, with a script that runs before those of each page."""
        page = (browser or self.browser).new_page(viewport=SCREEN)
        page.set_default_timeout(PATIENCE_MS)
        if script:
            page.add_init_script(script)
        return page

    def open(self, url: str, drawn: str = "[data-testid=stApp]") -> Page:
        """A new tab that has drawn what this selector finds and is at rest, with the stopwatch."""
        page = self.new_tab()
        page.goto(url)
        page.wait_for_selector(drawn)
        settle(page, PATIENCE_MS)
        page.evaluate(STOPWATCH.read_text(encoding="utf-8"))
        return page


def until_painted(page: Page, event: str, act: Callable[[], object], shown: str, value: Any = None) -> float:
    """Milliseconds from the input event that `act` causes to the end of the first frame for which `shown` holds.

    `shown` is an expression in JavaScript, in which `value` may be used.
    """
    page.evaluate(f"value => __bench.arm('{event}', () => {shown})", value)
    act()
    return float(page.evaluate("__bench.pending"))


def until_changed(page: Page, event: str, act: Callable[[], object], what: str) -> float:
    """The same, until this expression in JavaScript has another value than now."""
    return until_painted(page, event, act, f"{what} !== value", page.evaluate(what))


def until_translated(page: Page, text: str, what: str) -> float:
    """The same, from Enter in the field for a sentence; afterwards the page is at rest."""
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill(text)
    page.wait_for_timeout(700)  # the field's own delay is not part of the measurement
    took = until_changed(page, "keydown", lambda: field.press("Enter"), what)
    settle(page, PATIENCE_MS)
    return took
