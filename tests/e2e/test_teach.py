"""The teaching pages in a real browser: a slider by keyboard, and the link to it."""

from playwright.sync_api import Page, expect

from tests.browser import settle
from tests.e2e.address import Visit, wait_for


def slide(page: Page, label: str, key: str, value: str) -> None:
    """Move a slider by keyboard until its value begins so: one that is drawn again loses a key pressed meanwhile."""
    thumb = page.get_by_role("slider", name=label)
    for _ in range(10):
        if (thumb.get_attribute("aria-valuetext") or "").startswith(value):
            return
        thumb.press(key)
        settle(page)
    raise AssertionError(f"the slider {label} says {thumb.get_attribute('aria-valuetext')}, not {value} …")


def test_a_step_of_a_tab_is_chosen_by_keyboard_and_linked(visit: Visit, elsewhere: Visit) -> None:
    page = visit("/inside?model=adjective-swap&text=I+read+red+books&step=4&inside_tab=Layer+by+layer")
    expect(page.get_by_role("heading", name="Step 4, stage by stage")).to_be_visible()
    settle(page)
    slide(page, "Step", "ArrowLeft", "3:")
    wait_for(page, step="3", inside_tab="Layer by layer")
    again = elsewhere(page.url)
    expect(again.get_by_role("heading", name="Step 3, stage by stage")).to_be_visible()
    expect(again.get_by_test_id("stMain")).to_contain_text("3: reads lis, predicts livres")
    page.get_by_role("link", name="Masks").click()
    page.wait_for_url("**/masks*")
    wait_for(page, inside_tab=None)  # another page's parameters are not in this page's link
