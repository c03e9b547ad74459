"""Fixtures of the browser tests: a browser, a server, and a tab whose requests and errors are recorded."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Response, expect, sync_playwright

from explorer.decoding.translator import Translator
from explorer.web.security import FRAMES
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.folder import SHIPPED
from model.trace import AttentionTrace
from tests.browser import TIMEOUT_MS, Server, Watch, find_chromium, launch, new_profile, serve, settle
from tests.e2e.address import TEXT
from tests.e2e.bench import Bench
from tests.e2e.live_site import served
from tests.e2e.tab import Tab
from tests.explorer.toy_runs import save_run
from tests.paths import CHECKPOINTS
from tests.scripts_model import save_model_of_scripts

HERE = Path(__file__).parent
# Without --slow, the tests of one page and of the components alone.
WITHOUT_SLOW = ("test_component", "test_translate")
# What Streamlit's server writes when a page is closed while its connection opens.
LEFT = re.compile(r"Traceback(?:(?!\nTraceback).)*?\bWebSocketDisconnected: [^\n]*", re.DOTALL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.e2e)
            if not item.path.name.startswith(WITHOUT_SLOW):
                item.add_marker(pytest.mark.slow)


class Course(NamedTuple):
    """Its page, and its origin; the same under the name localhost is another site to a browser."""

    page: Path
    site: str


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver. Without a Chromium the test is skipped; on the CI machine it fails."""
    if find_chromium(for_tests=True) is None:
        reason = "no Chromium is installed (HEADLIGHT_BROWSER may name one)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    chromium = launch(playwright, for_tests=True)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """The site of a course, which may embed the shared server."""
    with served(folder := tmp_path_factory.mktemp("course")) as address:
        yield Course(folder / "index.html", address.replace("localhost", "127.0.0.1").rstrip("/"))


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models that come with Headlight, a finished run `toy`, and `scripts`, which reads words of many scripts."""
    folder = tmp_path_factory.mktemp("shared")
    for name in SHIPPED:
        shutil.copytree(CHECKPOINTS / name, folder / name)
    save_run(folder / "toy", steps=(0, 10, 20, 30))
    save_model_of_scripts(folder / "scripts")
    return folder


@pytest.fixture(scope="session")
def server(course: Course, checkpoints: Path) -> Iterator[Server]:
    """One server for all tests, except those that start their own; the course may embed it."""
    folders = {"HEADLIGHT_CHECKPOINTS": str(checkpoints), "OMP_NUM_THREADS": "1"}
    with serve({FRAMES: course.site, "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "1"} | folders) as running:
        yield running
        assert "Traceback" not in LEFT.sub("", running.output())


@pytest.fixture(scope="session")
def _tab(browser: Browser) -> Tab:
    return Tab(browser)


@pytest.fixture
def tab(_tab: Tab) -> Iterator[Tab]:
    """An emptied tab; afterwards it checks that nothing went to another host and no script failed."""
    yield _tab
    _tab.empty()
    assert _tab.watch.taken() == [], "a page did what it should not"


@pytest.fixture
def watch(tab: Tab) -> Watch:
    """Records requests to other hosts, script errors, dialogs and policy violations of every tab in `context`."""
    return tab.watch


@pytest.fixture
def context(tab: Tab) -> BrowserContext:
    return tab.context


@pytest.fixture
def page(tab: Tab) -> Page:
    """An empty tab at 1366 × 768; go somewhere with `visit`."""
    return tab.page


@pytest.fixture
def new_page(browser: Browser, watch: Watch) -> Iterator[Page]:
    """The tab of a new profile, for tests that change a tab for good: by a clock, listeners, scripts on every page."""
    fresh = new_profile(browser)
    watch.follow(fresh)
    page = fresh.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    yield page
    fresh.close()


@pytest.fixture
def visit(page: Page, server: Server) -> Iterator[Callable[[str], Page]]:
    """`visit("/attention?layer=2")`: open an address of the shared server and wait until the page is drawn."""
    refused: list[str] = []

    def note(answer: Response) -> None:
        if answer.status >= 400:
            refused.append(answer.url)

    def go(address: str = "/") -> Page:
        page.goto(server.url + address)
        settle(page)
        return page

    page.on("response", note)
    yield go
    page.remove_listener("response", note)
    assert refused == [], "a page asked for what does not exist"


@pytest.fixture
def stage(page: Page) -> Bench:
    """The stepper of Translate, alone in a page."""
    return Bench(page, "stepper")


@pytest.fixture
def heads(page: Page) -> Bench:
    """The views of Attention, alone in a page."""
    return Bench(page, "heads")


@pytest.fixture
def cell(page: Page) -> Bench:
    """One cell, alone in a page."""
    return Bench(page, "cell")


@pytest.fixture(params=["stepper", "heads"])
def either(page: Page, request: pytest.FixtureRequest) -> Bench:
    """One and then the other, for what they have in common."""
    return Bench(page, request.param)


@pytest.fixture(scope="session")
def trace() -> AttentionTrace:
    """What every page must show of the sentence of most of these tests."""
    return Translator(load_model(CHECKPOINTS / "adjective-swap")).translate(TEXT, DecodeConfig()).trace
