"""The teaching pages in a real browser: sliders, the causal-mask switch, opening an operation."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import settle

Visit = Callable[[str], Page]


def main_part(page: Page) -> Locator:
    return page.get_by_test_id("stMain")


def slide(page: Page, label: str, keys: str, times: int = 1) -> None:
    """Move a slider by keyboard, as users without a mouse do."""
    thumb = page.get_by_role("slider", name=label)
    thumb.focus()
    for _ in range(times):
        thumb.press(keys)
    settle(page)


def slide_until(page: Page, label: str, keys: str, said: str) -> None:
    """Press until a slider's value begins so: one that is drawn again loses a key that is pressed meanwhile."""
    thumb = page.get_by_role("slider", name=label)
    for _ in range(10):
        settle(page)
        if (thumb.get_attribute("aria-valuetext") or "").startswith(said):
            return
        thumb.press(keys)
    raise AssertionError(f"the slider {label} says {thumb.get_attribute('aria-valuetext')}, not {said} …")


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    settle(page)


def choose_operation(page: Page, title: str) -> None:
    """Choose an operation by keyboard, as users without a mouse do."""
    box = page.get_by_role("combobox", name="Operation")
    box.fill(title)
    expect(page.get_by_role("option", name=title)).to_be_visible()
    box.press("Enter")
    settle(page)


def test_position_sliders_change_the_table(visit: Visit) -> None:
    page = visit("/positions?model=reverse")
    expect(main_part(page)).to_contain_text("the largest difference between the two tables is 0.")
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    slide(page, "d_model (numbers per position)", "ArrowLeft", 3)
    expect(main_part(page)).to_contain_text("58 numbers between −1 and 1")
    slide(page, "Length (positions)", "ArrowRight")
    expect(main_part(page)).to_contain_text("within these 65 positions")


@pytest.mark.slow
def test_a_link_shows_what_was_on_screen(visit: Visit, elsewhere: Visit) -> None:
    page = visit("/positions?model=reverse")
    tab(page, "The rotation")
    slide(page, "Offset k (positions)", "ArrowRight", 2)
    page.wait_for_function("() => new URLSearchParams(location.search).get('pe_offset') === '7'")
    assert "positions_tab=The+rotation" in page.url
    again = elsewhere(page.url)
    expect(main_part(again)).to_contain_text("PE(p + 7) = M · PE(p) holds at all 57 positions")
    page.get_by_role("link", name="Masks").click()
    page.wait_for_url("**/masks*")
    settle(page)
    assert "pe_offset" not in page.url, "another page's parameters are not in this page's link"


@pytest.mark.slow
def test_a_link_opens_an_operation_and_its_step(visit: Visit, elsewhere: Visit) -> None:
    page = visit("/inside?model=adjective-swap&text=I+read+red+books&inside_tab=All+operations")
    page.get_by_text("Decoder 2", exact=True).click()
    expect(page.get_by_role("combobox", name="Operation")).to_have_value("Keys W_K·x (cross)")
    choose_operation(page, "Softmax over keys (cross)")
    expect(page.get_by_role("heading", name="Softmax over keys (cross)")).to_be_visible()
    slide_until(page, "Step", "End", "5:")
    slide_until(page, "Step", "ArrowLeft", "3:")
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '3'")
    again = elsewhere(page.url)
    expect(again.get_by_role("heading", name="Softmax over keys (cross)")).to_be_visible()
    expect(main_part(again)).to_contain_text("3: reads lis, predicts livres")


def test_the_rotation_follows_the_slider(visit: Visit) -> None:
    page = visit("/positions?model=reverse")
    tab(page, "The rotation")
    expect(main_part(page)).to_contain_text("PE(p + 5) = M · PE(p) holds at all 59 positions")
    slide(page, "Offset k (positions)", "ArrowRight", 2)
    expect(main_part(page)).to_contain_text("PE(p + 7) = M · PE(p) holds at all 57 positions")


def test_shuffled_words_and_no_positions(visit: Visit) -> None:
    page = visit("/positions?model=reverse")
    tab(page, "Shuffle the words")
    expect(main_part(page)).to_contain_text("Attention follows the words exactly")
    expect(main_part(page)).to_contain_text("Attention does more than follow the words")


def test_the_causal_mask_can_be_lifted(visit: Visit) -> None:
    page = visit("/masks?model=adjective-swap&text=I+read+red+books")
    expect(main_part(page)).to_contain_text(re.compile(r"closed: \d+ the future ╱, \d+ padding ╳"))
    page.get_by_text("Causal mask", exact=True).first.click()
    settle(page)
    expect(main_part(page)).not_to_contain_text("the future ╱")
    tab(page, "Given target")
    expect(page.get_by_role("heading", name="Decoder self-attention, masked")).to_be_visible()
    page.get_by_text("Lift the causal mask", exact=True).click()
    settle(page)
    expect(page.get_by_role("heading", name="Decoder self-attention, mask lifted")).to_be_visible()


def test_the_models_with_and_without_the_mask_are_compared(visit: Visit) -> None:
    page = visit("/masks?model=adjective-swap")
    tab(page, "Trained without it")
    expect(main_part(page)).to_contain_text(
        "exact match at the end, best first: with the mask 100.0 % (step 300), without it 0.0 % (step 300)."
    )


def test_opening_an_operation(visit: Visit) -> None:
    page = visit("/inside?model=adjective-swap&text=I+read+red+books&inside_tab=All+operations")
    choose_operation(page, "Softmax over keys")
    expect(page.get_by_role("heading", name="Softmax over keys")).to_be_visible()
    expect(main_part(page)).to_contain_text("In the code: encoder.0.self_attn.weights.")
    choose_operation(page, "Activation")
    expect(main_part(page)).to_contain_text("are active on average")


def test_the_sizes_follow_their_sliders(visit: Visit) -> None:
    page = visit("/inside?model=adjective-swap")
    tab(page, "Sizes")
    expect(main_part(page)).to_contain_text("Paper base: 63 million parameters")
    page.get_by_role("button", name="paper big").click()
    expect(main_part(page)).to_contain_text("Paper big: 214 million parameters")
    slide(page, "Layers of each stack", "ArrowLeft")
    expect(main_part(page)).not_to_contain_text("Paper big: 214 million parameters")


@pytest.mark.parametrize("address", ["/positions", "/masks", "/inside"])
def test_a_hostile_sentence_is_text(visit: Visit, address: str) -> None:
    page = visit(f"{address}?model=reverse&text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
    drawn = page.locator(".machine" if address == "/inside" else ".js-plotly-plot").first
    expect(drawn).to_be_visible()
    if address == "/inside":
        expect(drawn.get_by_role("button", name="1 <", exact=True)).to_be_visible()  # a letter is a token
    assert not page.locator('img[src="x"]').count()
