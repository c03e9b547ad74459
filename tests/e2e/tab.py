"""A tab that serves one test after another and is emptied in between, as if each had a new browser profile.

A new profile fetches and compiles Streamlit's scripts again: about 5 s of computing before the first page is drawn,
against 1.5 s in a tab that has shown a page before.
"""

from playwright.sync_api import Browser

from tests.browser import SCREEN, TIMEOUT_MS, Watch, new_profile

# Nothing lies under the pointer, as in a tab where it has never moved.
OUTSIDE = (-1, -1)


class Tab:
    """The tab of one browser profile, with what its pages do unseen in `watch`.

    Listeners, scripts run on every page, routes and clocks cannot be taken back: a test that adds one needs a profile
    of its own (the fixture `new_page`).
    """

    def __init__(self, browser: Browser) -> None:
        self.context = new_profile(browser)
        self.watch = Watch()
        self.watch.follow(self.context)
        self._open()

    def _open(self) -> None:
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT_MS)
        self._commands = self.context.new_cdp_session(self.page)

    def empty(self) -> None:
        """Leave the page, close the profile's other tabs, and forget everything that pages store or tests set."""
        for page in self.context.pages:
            if page is not self.page:
                page.close()
        if self.page.is_closed():
            self._open()
        # The session storage of a tab can be reached from its page only; documents without an origin have none.
        self.page.evaluate("() => { try { sessionStorage.clear() } catch {} }")
        self.page.goto("about:blank")
        for origin in self.watch.origins:
            self._commands.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.watch.origins.clear()
        self._commands.send("Page.resetNavigationHistory")
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.page.emulate_media(media="null", color_scheme="light", reduced_motion="reduce")
        self.page.set_viewport_size(SCREEN)
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.mouse.move(*OUTSIDE)
