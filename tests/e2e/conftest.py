"""The browser, the server and a page that watches what happens behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser import SCREEN, Server, Watch, find_chromium, launch, serve, settle

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.e2e)
            # A browser, a server and other tests share two cores, and something is late one time in a thousand. What
            # failed runs once more, and is listed as RERUN at the end of the report; what fails twice has failed.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; without one the test is skipped, but on the CI machine it fails."""
    if find_chromium() is None:
        reason = "no Chromium is installed (HEADLIGHT_BROWSER may name one)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server process that the tests share, those aside that bring a server of their own."""
    with serve() as running:
        yield running


@pytest.fixture
def fresh_server() -> Callable[..., AbstractContextManager[Server]]:
    """`with fresh_server() as server`: a process that nobody has asked for anything yet."""
    return serve


@pytest.fixture
def watch() -> Watch:
    """Requests to other hosts, script errors and dialogs of everything that `context` opens."""
    return Watch()


@pytest.fixture
def context(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """A new, empty browser profile. At the end: nothing went to another host, and no script failed.

    (One profile for all tests would spare each half a second, and hung the browser after some seventy.)
    """
    fresh = browser.new_context(viewport=SCREEN)
    watch.follow(fresh)
    yield fresh
    fresh.close()
    assert watch.taken() == [], "a page did what it should not"


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty tab at 1366 × 768; go somewhere with `visit`."""
    tab = context.new_page()
    tab.set_default_timeout(15_000)
    return tab


@pytest.fixture
def visit(page: Page, server: Server) -> Callable[[str], Page]:
    """`visit("/attention?layer=2")`: open an address of the shared server and wait until it is drawn."""

    def go(address: str = "/") -> Page:
        page.goto(server.url + address)
        settle(page)
        return page

    return go
