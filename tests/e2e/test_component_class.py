"""The page Class in a browser: links in, a sorted table out, and nothing is stored or sent."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Course
from tests.e2e.lesson_page import page as lesson_page
from tests.some import some

LINES = (
    "Ada Lovelace ?lesson=attention&at=3&done=attention.512",
    "=Bob: ?done=attention.30~translate.5121111",
    "nonsense",
    "Eve <b> ?lesson=attention&at=99&done=attention.1",
)


@pytest.fixture
def shown(page: Page, course: Course) -> Page:
    course.body = lesson_page("class").decode()
    page.goto(course.site)
    page.wait_for_function("() => window.ready")
    return page


def column(page: Page, number: int) -> list[str]:
    return [cell.strip() for cell in page.locator(f"tbody tr > :nth-child({number})").all_inner_texts()]


def test_links_become_a_table_that_is_sorted_and_copied(shown: Page) -> None:
    expect(shown.locator("table")).to_be_hidden()
    shown.get_by_label("Progress links, one a line, each with a name before it").fill("\n".join(LINES))
    expect(shown.locator(".problems li")).to_have_text(
        ["Line 3 has no progress link.", "Line 4: This lesson has pages 1 to 7, not “99”. It opens at page 1."]
    )
    expect(shown.locator("caption")).to_have_text("3 people, 4 lessons begun")
    assert column(shown, 1) == ["=Bob", "=Bob", "Ada Lovelace", "Eve <b>"]
    assert column(shown, 4) == ["0 of 7", "5 of 8", "1 of 7", "0 of 7"]
    head = shown.get_by_role("columnheader", name="Pages done")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert column(shown, 4) == ["0 of 7", "0 of 7", "1 of 7", "5 of 8"]
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert column(shown, 4) == ["5 of 8", "1 of 7", "0 of 7", "0 of 7"]

    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name="Copy as CSV").click()
    expect(shown.locator("output")).to_have_text("Copied: paste it into a spreadsheet.")
    copied = shown.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert copied[1] == '\'=Bob,"How does it translate, word by word?",,5,6,1,0,1,8'
    assert len(copied) == 5
    assert shown.evaluate("() => localStorage.length + sessionStorage.length") == 0
    assert "?" not in shown.url


def test_without_a_clipboard_the_table_can_be_copied_by_hand(shown: Page) -> None:
    shown.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    shown.evaluate("() => { document.execCommand = () => false; }")
    shown.get_by_role("textbox").fill(LINES[0])
    shown.get_by_role("button", name="Copy as CSV").click()
    expect(shown.get_by_label("The table as CSV")).to_have_value(
        "Name,Lesson,At page,Pages done,Right at first try,Right later,Shown,Not answered,Pages\n"
        "Ada Lovelace,What is attention?,3,1,2,1,0,4,7\n"
    )


@pytest.mark.parametrize(("width", "dark"), some([(390, True), (1366, False)], 2))
def test_the_page_is_accessible_and_fits(shown: Page, width: int, dark: bool) -> None:
    shown.set_viewport_size({"width": width, "height": 800})
    shown.emulate_media(color_scheme="dark" if dark else "light")
    shown.get_by_role("textbox").fill("\n".join([*LINES, "x" * 300 + " ?done=attention.1"]))
    assert shown.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert [one["id"] for one in Axe().run(shown).response["violations"]] == []
