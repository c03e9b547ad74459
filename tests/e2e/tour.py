"""One tab that visits the pages of one server in turn and records the problems of each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser import TIMEOUT_MS, Server, Watch, new_profile, settle
from tests.paths import ROOT

# A component is drawn some time after Streamlit has created its container.
_ALIVE = """() => [...document.querySelectorAll("[data-testid^=stBidiComponent]")].every(
  room => (room.shadowRoot ?? room).childElementCount)"""
Look = Callable[[Page], list[str]]
ADDRESSES = tuple(f"/{path.stem}" for path in sorted((ROOT / "pages").glob("*.py")))


class Tour:
    """A tab, and every problem seen so far, each with the name of its page.

    `look` lists what is wrong with a page once it is drawn.
    """

    def __init__(self, page: Page, server: Server, watch: Watch, look: Look) -> None:
        self.page = page
        self._server, self._watch, self._look = server, watch, look
        self._problems: list[str] = []

    def go(self, address: str, where: str = "") -> Page:
        """Open an address, wait until it is drawn, and check it; `where` names it in the problems."""
        self.page.goto(self._server.url + address)
        return self.look(where or address.partition("?")[0])

    def look(self, where: str) -> Page:
        """Wait until everything is drawn, and check the page; `where` names it in the problems."""
        settle(self.page)
        self.page.wait_for_function(_ALIVE)
        done = self._watch.taken()
        shown = self.page.get_by_test_id("stException").all_inner_texts()
        self._problems += [f"{where}: {problem}" for problem in (*done, *shown, *self._look(self.page))]
        return self.page

    def tabs(self, where: str) -> None:
        """Open each tab of the page and check it."""
        for tab in self.page.get_by_role("tab").all():
            tab.click()
            self.look(f"{where}, {tab.inner_text()}")

    def problems(self) -> list[str]:
        """The problems seen since the last call."""
        problems, self._problems = self._problems, []
        return problems


@contextmanager
def touring(browser: Browser, server: Server, look: Look = lambda page: [], **options: Any) -> Iterator[Tour]:
    """A tour in a new browser profile; `options` are those of Playwright's `new_context`."""
    watch = Watch()
    context = new_profile(browser, **options)
    watch.follow(context)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    yield Tour(page, server, watch, look)
    context.close()
