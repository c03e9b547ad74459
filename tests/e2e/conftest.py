"""Fixtures of the browser tests: a browser, a server, and a tab whose requests and errors are recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.browser import SCREEN, TIMEOUT_MS, Server, Watch, find_chromium, launch, serve, settle
from tests.e2e.tab import Tab

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver. Without a Chromium the test is skipped; on the CI machine it fails."""
    if find_chromium() is None:
        reason = "no Chromium is installed (HEADLIGHT_BROWSER may name one)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Headless Chromium."""
    chromium = launch(playwright)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests of this process, except those that start their own."""
    with serve() as running:
        yield running


@pytest.fixture
def fresh_server() -> Callable[..., AbstractContextManager[Server]]:
    """`with fresh_server() as server`: a new process that has not answered any request yet."""
    return serve


@pytest.fixture(scope="session")
def _tab(browser: Browser) -> Tab:
    return Tab(browser)


@pytest.fixture(scope="session")
def _other_tab(browser: Browser) -> Tab:
    return Tab(browser)


def _lend(tab: Tab) -> Iterator[Tab]:
    yield tab
    tab.empty()
    assert tab.watch.taken() == [], "a page did what it should not"


@pytest.fixture
def tab(_tab: Tab) -> Iterator[Tab]:
    """An emptied tab; afterwards it checks that nothing went to another host and no script failed."""
    yield from _lend(_tab)


@pytest.fixture
def other_tab(_other_tab: Tab) -> Iterator[Tab]:
    """The same in another profile."""
    yield from _lend(_other_tab)


@pytest.fixture
def watch(tab: Tab) -> Watch:
    """Records requests to other hosts, script errors, dialogs and policy violations of every tab in `context`."""
    return tab.watch


@pytest.fixture
def context(tab: Tab) -> BrowserContext:
    """The browser profile of `page`."""
    return tab.context


@pytest.fixture
def page(tab: Tab) -> Page:
    """An empty tab at 1366 × 768; go somewhere with `visit`."""
    return tab.page


@pytest.fixture
def new_page(browser: Browser, watch: Watch) -> Iterator[Page]:
    """The tab of a new profile, for tests that change a tab for good: by a clock, listeners, scripts on every page."""
    fresh = browser.new_context(viewport=SCREEN)
    watch.follow(fresh)
    page = fresh.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    yield page
    fresh.close()


@pytest.fixture
def elsewhere(other_tab: Tab) -> Callable[[str], Page]:
    """`elsewhere(url)`: what another person sees who follows a link."""

    def go(url: str) -> Page:
        other_tab.page.goto(url)
        settle(other_tab.page)
        return other_tab.page

    return go


@pytest.fixture
def visit(page: Page, server: Server) -> Callable[[str], Page]:
    """`visit("/attention?layer=2")`: open an address of the shared server and wait until the page is drawn."""

    def go(address: str = "/") -> Page:
        page.goto(server.url + address)
        settle(page)
        return page

    return go
