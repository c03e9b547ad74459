"""The language of the interface in a real browser: choosing another keeps all on screen, and longer texts are whole."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests import pseudo
from tests.browser import Server, rest, serve
from tests.e2e.address import Visit, query
from tests.pages.page import VISITS

SENTENCE = "model=adjective-swap&text=I+read+red+books"


def test_another_language_keeps_what_is_on_screen(visit: Visit) -> None:
    """On Translate; tests/pages changes the language of the other pages, and test_live_site.py that of other views."""
    page = visit(f"/?{SENTENCE}&kind=cross&layer=1&head=2&step=4")
    rest(page)
    step, before = page.locator(".controls output"), query(page)
    expect(step).to_have_text("step 4 of 5")
    for name, option, german in (("Language", "Deutsch", True), ("Sprache", "English", False)):
        box = page.get_by_role("combobox", name=name)
        box.scroll_into_view_if_needed()
        page.wait_for_timeout(300)  # the list would close if the sidebar still moved
        box.click()
        page.get_by_role("option", name=option).click()
        rest(page)
        expect(step).to_have_text("Schritt 4 von 5" if german else "step 4 of 5")
        assert {**before, "lang": "de" if german else "en"}.items() <= query(page).items()


CLIPPING = Path(__file__).with_name("clipping.js")
# In the pseudo-language, titles may be longer than an axis, and the names of bars leave a phone little for them.
CHARTS = ("main-svg", "over each other: text.")
WIDTHS, TALL = (1366, 390), 5000  # pixels


@pytest.fixture(scope="module")
def speaking() -> Iterator[Server]:
    with serve({"HEADLIGHT_LOCALES": str(pseudo.packs())}) as running:
        yield running


@pytest.mark.nightly
@pytest.mark.parametrize("code", ["de", pseudo.CODE])
@pytest.mark.parametrize("name", VISITS)
def test_no_text_is_cut_or_covered_in_a_longer_language(page: Page, speaking: Server, name: str, code: str) -> None:
    found = {}
    for more in VISITS[name]:
        asked = {"lang": code, "model": "adjective-swap", "text": "I read red books", "sample": "task.10"} | more
        page.goto(f"{speaking.url}/{'' if name == 'translate' else name}?{urlencode(asked)}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": TALL})
            rest(page)
            faults = page.evaluate(CLIPPING.read_text(encoding="utf-8"))
            found[tuple(more.values()), width] = [
                each for each in faults if code == "de" or not any(chart in each for chart in CHARTS)
            ]
    assert {place: faults for place, faults in found.items() if faults} == {}
