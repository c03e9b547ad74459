"""Lessons in a real browser: beside the machine, on a phone, and with progress that is kept."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import box_of, rest, settle
from tests.e2e.address import Visit


def test_text_and_machine_move_together_and_on_a_phone_the_text_is_a_sheet(visit: Visit) -> None:
    page = visit("/lessons?lesson=machine&at=3")
    title, done = page.locator(".machine h3"), page.locator("p", has_text=re.compile(r"\bDone\.$"))
    expect(title).to_have_text("The whole machine")
    page.get_by_role("button", name=re.compile("^Masked decoder self-attention")).first.click()
    expect(title).to_have_text("Masked decoder self-attention, decoder layer 1")
    settle(page)
    expect(done).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Cross-attention")).first.click()
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
    fold, panel = page.get_by_text("Fold", exact=True), page.locator(".machine .panel")
    for answered in (False, True):
        if answered:
            page.get_by_role("textbox", name=re.compile("^How many numbers")).fill("16")
            page.get_by_role("button", name="Check the answer").click()
            expect(page.get_by_test_id("stAlert")).to_contain_text("16 numbers")
            rest(page)
            gap = box_of(sheet)["y"] - box_of(panel)["y"] - box_of(panel)["height"]
            assert abs(gap) <= 2, "what is told in the machine ends where the text begins"
        expect(panel.get_by_text("fold the text below")).to_be_visible()
        fold.click()
        rest(page)
        assert box_of(sheet)["y"] > 740
        expect(panel.get_by_text("fold the text below")).to_be_hidden()
        expect(panel.get_by_role("tab", name="Numbers")).to_be_visible()
        assert panel.evaluate("panel => panel.scrollHeight <= panel.clientHeight + 1"), "nothing is hidden"
        fold.click()
        rest(page)


def _below(upper: Locator, lower: Locator) -> bool:
    return box_of(upper)["y"] + box_of(upper)["height"] <= box_of(lower)["y"] + 1


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_after_a_wrong_answer_everything_that_the_reader_needs_is_in_sight(
    visit: Visit, width: int, height: int
) -> None:
    page = visit("/lessons?lesson=machine&at=3")
    page.set_viewport_size({"width": width, "height": height})
    field = page.get_by_role("textbox", name=re.compile("^Each box of attention"))
    field.press_sequentially("16")
    assert page.get_by_test_id("InputInstructions").is_hidden(), "Streamlit's hint would lie over the field"
    page.get_by_role("button", name="Check the answer").click()
    verdict = page.get_by_test_id("stAlert")
    expect(verdict).to_contain_text("Not quite: you answered 16.")
    rest(page)
    text, do = page.locator(".st-key-lesson_prose"), page.locator(".st-key-lesson_do")
    shown = page.locator(".st-key-lesson_sheet > :has(.st-key-lesson_prose)")
    inside = [
        do,
        field,
        verdict,
        page.get_by_role("button", name="Show me the answer"),
        page.get_by_text("Three places"),
    ]
    for each in inside:
        expect(each).to_be_in_viewport(ratio=1)
    for upper, lower in ((shown, do), (do, field), (field, verdict)):
        assert _below(upper, lower)
    goes_on = shown.evaluate("text => text.scrollHeight > text.clientHeight")
    fades = shown.evaluate("text => getComputedStyle(text).maskImage !== 'none'")
    assert goes_on == fades, "only a text that goes on fades"
    named = page.locator(".block.near")
    expect(named).to_have_text(re.compile("^Cross-"))
    expect(text).to_be_visible()
    if width < 500:
        assert goes_on, "on a phone this text is longer than its place"
        assert _below(named, page.locator(".st-key-lesson_sheet")), "the named box is above the text"
        expect(page.get_by_text("Fold", exact=True)).to_be_in_viewport(ratio=1)
    else:
        assert not goes_on
        story = page.locator(".told > p:not(.hint)")
        expect(story).to_have_count(4)
        expect(story.first).to_be_hidden()


def test_a_block_is_marked_only_where_the_exercise_names_one_that_is_not_open(visit: Visit) -> None:
    page = visit("/lessons?lesson=machine&at=2")
    named = page.locator(".block.near")
    expect(named).to_have_text(re.compile("^Positions"))
    onward = page.locator(".st-key-lesson_next button")
    settle(page)
    onward.click()
    expect(named).to_have_text(re.compile("^Cross-"))  # what the exercise names
    page.get_by_role("button", name=re.compile("^Cross-attention")).first.click()
    expect(named).to_have_count(0)
    onward.click()
    expect(page.locator(".machine h3")).to_have_text("Cross-attention, decoder layer 1 › head 2")
    expect(named).to_have_count(0)
