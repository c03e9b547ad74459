"""The tab that tests share holds nothing of the test before, records what pages do unseen, and is waited for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import SCREEN, Server, settle
from tests.e2e.address import Visit
from tests.e2e.tab import Tab

PLAIN = "/_stcore/health"  # a page of the server that runs no script
WRITE = """() => {
  localStorage.setItem("theme", "dark")
  sessionStorage.setItem("step", "3")
  document.cookie = "visitor=1"
  return new Promise((done, fail) => {
    const opening = indexedDB.open("notes")
    opening.onsuccess = () => done(opening.result.close())
    opening.onerror = fail
  })
}"""
READ = """async () => ({
  local: {...localStorage},
  session: {...sessionStorage},
  cookies: document.cookie.split("; ").map((cookie) => cookie.split("=")[0]).sort(),
  databases: (await indexedDB.databases()).map(({name}) => name),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  size: [innerWidth, innerHeight],
  clipboard: (await navigator.permissions.query({name: "clipboard-read"})).state,
  under: [...document.querySelectorAll(":hover")].map(({tagName}) => tagName),
  history: history.length,
})"""


def read(page: Page, server: Server) -> dict[str, object]:
    page.goto(server.url + PLAIN)
    found: dict[str, object] = page.evaluate(READ)
    return found


@pytest.fixture
def fresh(browser: Browser) -> Iterator[Tab]:
    """One that no test has used."""
    new = Tab(browser)
    yield new
    new.context.close()


def test_an_emptied_tab_is_like_new_and_a_closed_one_is_opened_again(fresh: Tab, server: Server) -> None:
    new = read(fresh.page, server)
    assert new["size"] == list(SCREEN.values())
    fresh.page.goto(f"{server.url}{PLAIN}?again")
    fresh.page.evaluate(WRITE)
    fresh.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    fresh.page.set_viewport_size({"width": 400, "height": 500})
    fresh.context.grant_permissions(["clipboard-read"])
    fresh.page.get_by_text("ok").hover(position={"x": 4, "y": 4})  # a new tab may have its pointer at the corner
    fresh.page.wait_for_function("() => document.querySelector('body:hover')")
    used = fresh.page.evaluate(READ)
    fresh.context.new_page().goto(server.url + PLAIN)
    assert not {name for name in new if used[name] == new[name]}, "a comparison that cannot fail"
    fresh.empty()
    assert fresh.context.pages == [fresh.page]
    assert fresh.page.url == "about:blank"
    assert fresh.context.storage_state() == {"cookies": [], "origins": []}
    assert read(fresh.page, server) == new
    fresh.page.close()
    fresh.empty()
    assert read(fresh.page, server)["local"] == {}


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
