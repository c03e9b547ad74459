"""The Probe page in a real browser: measure, open a card, switch heads off, undo, and reopen from a link."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import settle
from tests.e2e.address import Visit, wait_for

ADDRESS = "/probe?model=reverse&text=headlight"
OFF = "cross.1.1.zero~cross.1.2.zero"


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    settle(page)


def test_compute_statistics_and_open_a_card(visit: Visit) -> None:
    page = visit(ADDRESS)
    expect(page.get_by_text(re.compile("Measured on 200 of 1,505 test sentences of reverse"))).to_be_visible()
    expect(page.get_by_text("5 of 12 heads have a clear role")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    page.get_by_role("button", name="Cross L1 H2: alignment").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Cross L1 H1: alignment")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Cross L1 H1: alignment (predicts)")).to_be_visible()
    expect(page.get_by_text("so the two baselines count as one")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
    wait_for(page, probe_tab="One head")
    opened = page.get_by_role("tab", name="One head")
    expect(opened).to_have_attribute("aria-selected", "true")

    page.get_by_role("link", name="Experiments").click()
    page.get_by_role("button", name="Pre-norm or post-norm").click()
    wait_for(page, experiment="norm", probe_tab=None)
    page.go_back()
    wait_for(page, experiment="all")
    page.go_back()
    wait_for(page, probe_tab="One head", experiment=None)
    expect(opened).to_have_attribute("aria-selected", "true")
    page.reload()
    settle(page)
    expect(opened).to_have_attribute("aria-selected", "true")


@pytest.mark.nightly  # tests/pages/test_probe.py switches them off
def test_switch_heads_off_see_the_translation_change_undo_and_reopen(visit: Visit, elsewhere: Visit) -> None:
    page = visit(f"{ADDRESS}&edit=%3Cimg%20src=x%20onerror=alert(1)%3E.1.1.zero")
    expect(page.get_by_text(re.compile("Measured on 200 of 1,505"))).to_be_visible()
    tab(page, "Effect on the answer")
    expect(page.get_by_text("is left out")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    expect(page.get_by_text("Translation, unchanged:")).to_contain_text("thgildaeh")
    for head, count in ((1, 1), (1, 0), (1, 1), (2, 2)):
        page.get_by_role("button", name=f"Cross L1 H{head}: alignment").click()
        settle(page)
        change = f"Change {count} head" if count else "Choose heads first"
        expect(page.get_by_role("button", name=change)).to_be_enabled(enabled=count > 0)
    expect(page.get_by_role("button", name="Cross L1 H2: alignment (predicts), ✓", pressed=True)).to_be_visible()
    page.get_by_role("button", name="Change 2 heads").click()
    expect(page.get_by_text("The translation changes.")).to_be_visible()
    expect(page.locator("del", has_text="thgildaeh")).to_be_visible()
    expect(page.get_by_text("In force: cross L1 H1, L1 H2 switched off")).to_be_visible()
    wait_for(page, edit=OFF)
    link = page.url

    page.get_by_role("button", name="Undo").click()
    wait_for(page, edit=None)
    expect(page.get_by_role("tab", name="Effect on the answer")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Translation, unchanged:")).to_contain_text("thgildaeh")

    again = elsewhere(link)
    expect(again.get_by_text("The translation changes.")).to_be_visible()
    expect(again.get_by_text("In force: cross L1 H1, L1 H2 switched off")).to_be_visible()
