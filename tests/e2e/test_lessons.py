"""Lessons in a real browser: beside the machine, on a phone, and with progress that is kept."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import box_of, rest, settle
from tests.e2e.address import Visit


def test_text_and_machine_move_together_and_on_a_phone_the_text_is_a_sheet(visit: Visit) -> None:
    page = visit("/lessons?lesson=machine&at=3")
    title, done = page.locator(".machine h3"), page.locator("p", has_text=re.compile(r"\bDone\.$"))
    expect(title).to_have_text("Cross-attention, decoder layer 1")
    expect(done).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Masked decoder self-attention")).first.click()
    expect(done).to_be_visible()
    settle(page)
    page.keyboard.press("PageDown")
    expect(title).to_have_text("Cross-attention, decoder layer 1 › head 2")
    page.set_viewport_size({"width": 390, "height": 844})
    sheet, picture = page.locator(".st-key-lesson_sheet"), page.locator(".machine")
    rest(page)
    assert box_of(picture)["y"] < 300, "the picture is on the first screen, above the text"
    assert box_of(sheet)["y"] > 400
    expect(page.get_by_role("button", name="Check the answer")).to_be_in_viewport(ratio=1)
    page.get_by_text("Fold", exact=True).click()
    rest(page)
    assert box_of(sheet)["y"] > 740


@pytest.mark.nightly  # daily on the site; tests/js/progress_keeper.test.js has what the app keeps
def test_progress_is_kept_in_the_browser_and_can_be_cleared(visit: Visit) -> None:
    page = visit("/lessons?lesson=attention&at=2")
    form = page.get_by_test_id("stForm")
    form.get_by_test_id("stRadio").locator("label:has(input)").nth(3).click()
    page.get_by_role("button", name="Check the answer").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="Right:")).to_be_visible()
    page.wait_for_function("localStorage.getItem('headlight.lessons') === 'attention.01'")
    # A visit without a link, later: the list knows what was answered; then a link with progress of somebody else.
    page.goto(page.url.partition("?")[0])
    start = page.locator(".st-key-lesson_start_attention button")
    expect(start).to_have_text("Continue")
    expect(page.get_by_text("Your progress is kept in this browser")).to_be_visible()
    page.goto(page.url.partition("?")[0] + "?done=masks.1")
    page.get_by_role("button", name="Leave it out").click()
    expect(page.locator(".st-key-lesson_start_masks button")).to_have_text("Start")
    expect(start).to_have_text("Continue")
    page.wait_for_function("localStorage.getItem('headlight.lessons') === 'attention.01'")
    page.get_by_role("button", name="Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    expect(start).to_have_text("Start")
    page.wait_for_function("localStorage.getItem('headlight.lessons') === null")
