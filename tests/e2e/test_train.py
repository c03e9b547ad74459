"""Train and Runs in a browser: the form, the choice of a run, and heads that form."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import SCREEN, Server, box_of, settle


@pytest.mark.nightly  # tests/pages/test_train.py has the form
def test_the_form_fits_the_screen_nothing_covers_it_and_a_large_file_is_answered(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/train")
    page.get_by_role("button", name="Start training").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN["width"]
    last, edge = (box_of(part) for part in (page.get_by_text("paper-base"), page.get_by_role("button", name="Start")))
    assert last["x"] + last["width"] < edge["x"] + edge["width"], "every preset can be seen"
    assert edge["y"] + edge["height"] < SCREEN["height"]
    # The choice of a run is in the page's first line, where Streamlit has its header.
    page.get_by_test_id("stMain").get_by_test_id("stSelectbox").first.click()
    page.get_by_role("option", name="toy").click()
    expect(page).to_have_url(re.compile(r"run=toy"))
    expect(page.get_by_text("finished", exact=True)).to_be_visible()
    page.get_by_role("button", name="New run").click()
    page.get_by_role("button", name="Start training").wait_for()
    settle(page)
    page.get_by_role("combobox", name="Data").click()
    page.get_by_role("option", name="Your own sentence pairs").click()
    pasted = page.get_by_role("textbox", name="Or paste pairs, one on each line")
    pasted.fill("".join(f"word {n % 20} {n // 20}\tWort {n % 20} {n // 20}\n" for n in range(400)))
    pasted.press("Control+Enter")
    expect(pasted).to_be_hidden()
    settle(page)
    edge = box_of(page.get_by_role("button", name="Start training"))
    assert edge["y"] + edge["height"] < SCREEN["height"], "the fields have closed, so that the plan is in sight"
    page.get_by_text("Change the pairs").click()
    expect(pasted).to_be_visible()
    # In words that are seen: Streamlit itself shows them only to a pointer that hovers.
    large = {"name": "large.tsv", "mimeType": "text/plain", "buffer": b"word\tWort\n" * 120_000}
    page.get_by_test_id("stMain").locator('input[type="file"]').first.set_input_files(large)
    said = page.get_by_test_id("stMain").get_by_text("must be 1.0MB or smaller")
    said.wait_for()
    assert box_of(said)["width"] > 150
    assert box_of(said)["height"] > 12


@pytest.mark.nightly  # tests/pages/test_runs.py has the film
def test_heads_form_in_the_browser(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/runs?entry=toy")
    film = page.locator(".film")
    expect(film.get_by_role("slider")).to_be_visible()
    expect(film.locator(".controls output")).to_have_text("step 30 (4 of 4)")
    film.get_by_role("slider").press("ArrowLeft")
    film.get_by_role("slider").press("ArrowLeft")
    expect(film.locator(".controls output")).to_have_text("step 10 (2 of 4)")
    film.get_by_role("button", name="Layer 1, head 3").click()
    expect(film.locator("figcaption")).to_have_text("Cross-attention, layer 1, head 3, step 10")
    expect(page.get_by_text(re.compile(r"^Step 10, layer 1, head 3\."))).to_be_visible()
    film.get_by_role("button", name="Play").click()
    expect(film.locator(".controls output")).to_have_text("step 30 (4 of 4)")
    expect(film.get_by_role("button", name="Play")).to_be_visible()
    film.locator("figure canvas").press("ArrowDown")
    expect(film.locator("figure output")).to_contain_text("weight 0.")
