"""The Probe page in a real browser: measure, open a card, and come back to it."""

import re

from playwright.sync_api import expect

from tests.e2e.address import Visit, wait_for

ADDRESS = "/probe?model=reverse&text=headlight&sample=task.60"


def test_compute_statistics_and_open_a_card(visit: Visit) -> None:
    page = visit(ADDRESS)
    expect(page.get_by_text(re.compile("Measured on 60 of 1,505 test sentences of reverse"))).to_be_visible()
    expect(page.get_by_text("4 of 12 heads have a clear role")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    page.get_by_role("button", name="Cross L1 H2: alignment").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Cross L1 H1: alignment")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Cross L1 H1: alignment (predicts)")).to_be_visible()
    page.get_by_role("button", name="What this test says").click()
    expect(page.get_by_text("the score is a share of that weight")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Sorted by: ")).to_be_visible()
    wait_for(page, probe_tab="One head")
    expect(page.get_by_role("tab", name="One head")).to_have_attribute("aria-selected", "true")
