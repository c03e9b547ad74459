"""The tab that tests share records what pages do unseen, and is waited for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import Server, settle
from tests.e2e.address import Visit
from tests.e2e.tab import Tab

PLAIN = "/_stcore/health"  # a page of the server that runs no script


@pytest.fixture
def fresh(browser: Browser) -> Iterator[Tab]:
    """One that no test has used."""
    new = Tab(browser)
    yield new
    new.context.close()


def test_what_a_page_did_unseen_is_recorded(fresh: Tab, server: Server) -> None:
    """Each test that uses a tab fails where one of these is not empty at its end."""
    fresh.page.goto(server.url + PLAIN)
    fresh.page.evaluate("() => { alert('shown'); setTimeout(() => { throw new Error('broken') }) }")
    fresh.page.evaluate("() => fetch('https://other.example/x').catch(() => {})")
    fresh.empty()
    done = fresh.watch.taken()
    assert "a dialog: shown" in done
    assert "a script that failed: broken" in done
    assert any("https://other.example/x" in problem for problem in done), done


def test_settling_waits_for_a_run_whose_request_is_late(visit: Visit) -> None:
    """As on a busy machine, where a click reaches the server long after it was made."""
    page = visit("/positions?model=reverse")
    page.evaluate(
        """() => {
      const { prototype } = Object.getPrototypeOf(WebSocket), { send } = prototype;
      prototype.send = function (data) { setTimeout(() => send.call(this, data), 2000); };
    }"""
    )
    page.get_by_role("tab", name="The rotation").click()
    settle(page)
    assert page.get_by_text("PE(p + 5) = M · PE(p) holds at all 59 positions").is_visible()
