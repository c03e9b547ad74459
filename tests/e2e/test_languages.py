"""The language of the interface in a real browser: choosing another one keeps everything on screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import rest
from tests.e2e.address import Visit, query

SENTENCE = "model=adjective-swap&text=I+read+red+books"
TRANSLATE = f"/?{SENTENCE}&kind=cross&layer=1&head=2&step=4"
ONE_HEAD = f"/attention?{SENTENCE}&kind=cross&layer=1&head=2&view=head.steps&panel=compare"
# A page, and what is on it in English and in German; what is typed or opened there stays, too.
PAGES = [
    (TRANSLATE, {".controls output": ("step 4 of 5", "Schritt 4 von 5")}),
    (ONE_HEAD, {"figure:visible figcaption": ("layer 1 · head 2", "Schicht 1 · Kopf 2")}),
    (f"/inside?{SENTENCE}&inside_tab=Sizes", {"[role=tab][aria-selected=true]": ("Sizes", "Größen")}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("link", "shown"), PAGES, ids=["translate", "attention", "inside"])
def test_another_language_keeps_what_is_on_screen(visit: Visit, link: str, shown: dict[str, tuple[str, str]]) -> None:
    page = visit(link)
    rest(page)
    for place, (english, _) in shown.items():
        expect(page.locator(place).first).to_contain_text(english)
    before = query(page)
    for name, option, german in (("Language", "Deutsch", True), ("Sprache", "English", False)):
        page.get_by_role("combobox", name=name).click()
        page.get_by_role("option", name=option).click()
        rest(page)
        for place, texts in shown.items():
            expect(page.locator(place).first).to_contain_text(texts[german])
        assert query(page) == {**before, "lang": "de" if german else "en"}
