"""The tab that tests share holds nothing of the test before, records what pages do unseen, and is waited for."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from tests.browser import SCREEN, Server, settle
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


def test_an_emptied_tab_is_like_new(browser: Browser, server: Server) -> None:
    tab = Tab(browser)
    try:
        new = read(tab.page, server)
        assert new["size"] == list(SCREEN.values())
        tab.page.goto(f"{server.url}{PLAIN}?again")
        tab.page.evaluate(WRITE)
        tab.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        tab.page.set_viewport_size({"width": 400, "height": 500})
        tab.context.grant_permissions(["clipboard-read"])
        tab.page.get_by_text("ok").hover(position={"x": 4, "y": 4})  # a new tab may have its pointer at the corner
        tab.page.wait_for_function("() => document.querySelector('body:hover')")
        used = tab.page.evaluate(READ)
        tab.context.new_page().goto(server.url + PLAIN)
        assert not {name for name in new if used[name] == new[name]}, "a comparison that cannot fail"
        tab.empty()
        assert tab.context.pages == [tab.page]
        assert tab.page.url == "about:blank"
        assert tab.context.storage_state() == {"cookies": [], "origins": []}
        assert read(tab.page, server) == new
    finally:
        tab.context.close()


def test_a_tab_that_a_test_closed_is_opened_again(browser: Browser, server: Server) -> None:
    tab = Tab(browser)
    try:
        tab.page.close()
        tab.empty()
        assert read(tab.page, server)["local"] == {}
    finally:
        tab.context.close()


def test_what_a_page_did_unseen_is_recorded(browser: Browser, server: Server) -> None:
    """Each test that uses a tab fails where one of these is not empty at its end."""
    tab = Tab(browser)
    try:
        tab.page.goto(server.url + PLAIN)
        tab.page.evaluate("() => { alert('shown'); setTimeout(() => { throw new Error('broken') }) }")
        tab.page.evaluate("() => fetch('https://other.example/x').catch(() => {})")
        tab.empty()
        done = tab.watch.taken()
    finally:
        tab.context.close()
    assert "a dialog: shown" in done
    assert "a script that failed: broken" in done
    assert any("https://other.example/x" in problem for problem in done), done


def test_settling_waits_for_a_run_whose_request_is_late(new_page: Page, server: Server) -> None:
    """As on a busy machine, where a click reaches the server long after it was made."""
    new_page.goto(f"{server.url}/positions?model=reverse")
    settle(new_page)
    new_page.evaluate(
        """() => {
      const { prototype } = Object.getPrototypeOf(WebSocket), { send } = prototype;
      prototype.send = function (data) { setTimeout(() => send.call(this, data), 2000); };
    }"""
    )
    new_page.get_by_role("tab", name="The rotation").click()
    settle(new_page)
    assert new_page.get_by_text("PE(p + 5) = M · PE(p) holds at all 59 positions").is_visible()
