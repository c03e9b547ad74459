"""Lessons in a real browser: beside the machine, on a phone, and with progress that is kept."""

import re

from playwright.sync_api import expect

from tests.browser import box_of, rest, settle
from tests.e2e.address import Visit


def test_text_and_machine_move_together_and_on_a_phone_the_text_is_a_sheet(visit: Visit) -> None:
    page = visit("/lessons?lesson=machine&at=3")
    title, done = page.locator(".machine h3"), page.locator("p", has_text=re.compile(r"\bDone\.$"))
    expect(title).to_have_text("The whole machine")
    page.get_by_role("button", name=re.compile("^Cross-attention")).first.click()
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
    assert box_of(sheet)["y"] >= 0.6 * 844 - 1, "at least three fifths of the screen are left to the picture"
    back = page.locator(".machine .out")
    expect(back).to_be_in_viewport(ratio=1)
    assert box_of(back)["y"] + box_of(back)["height"] <= box_of(sheet)["y"], "the way back is above the text"
    expect(page.get_by_role("button", name="Check the answer")).to_be_in_viewport(ratio=1)
    page.get_by_text("Fold", exact=True).click()
    rest(page)
    assert box_of(sheet)["y"] > 740
