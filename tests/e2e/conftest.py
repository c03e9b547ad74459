"""Fixtures of the browser tests: a browser, a server, and a tab whose requests and errors are recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.browser import SCREEN, TIMEOUT_MS, Server, Watch, find_chromium, launch, serve, settle

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


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Headless Chromium, a new one for each test file: after some seventy tests one browser stopped responding."""
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


@pytest.fixture
def watch() -> Watch:
    """Records requests to other hosts, script errors and dialogs of every tab in `context`."""
    return Watch()


@pytest.fixture
def context(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """A new, empty browser profile; at the end, checks that no request went to another host and no script failed."""
    fresh = browser.new_context(viewport=SCREEN)
    watch.follow(fresh)
    yield fresh
    fresh.close()
    assert watch.taken() == [], "a page did what it should not"


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty tab at 1366 × 768; open an address with `visit`."""
    tab = context.new_page()
    tab.set_default_timeout(TIMEOUT_MS)
    return tab


@pytest.fixture
def visit(page: Page, server: Server) -> Callable[[str], Page]:
    """`visit("/attention?layer=2")`: open an address of the shared server and wait until the page is drawn."""

    def go(address: str = "/") -> Page:
        page.goto(server.url + address)
        settle(page)
        return page

    return go
