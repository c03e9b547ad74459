"""The Experiments page in the browser: choose one, read what it shows, and have the Train page filled in."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import rest, settle

PATIENCE = 30_000


@pytest.mark.slow
def test_choose_an_experiment_and_run_it_again(visit: Callable[[str], Page]) -> None:
    page = visit("/experiments")
    page.set_default_timeout(PATIENCE)
    expect(page.get_by_text("What the runs show")).to_be_visible(timeout=PATIENCE)
    page.get_by_test_id("stMain").get_by_test_id("stSelectbox").first.click()
    page.get_by_role("option", name="Pre-norm or post-norm").click()
    settle(page, PATIENCE)
    expect(page).to_have_url(re.compile("experiment=norm"), timeout=PATIENCE)
    expect(page.get_by_text("'post-norm' shows no difference from 'pre-norm'.")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()

    # A list closes when the page moves below it: as charts are drawn, or as the click itself scrolls to the box.
    # Of the experiment before, a box of the same name stays until the charts above are drawn.
    variant = page.get_by_role("combobox", name="Variant")
    expect(variant).to_have_count(1)
    expect(variant).to_have_value("pre-norm")
    variant.scroll_into_view_if_needed()
    rest(page, PATIENCE)
    variant.click()
    page.get_by_role("option", name="post-norm", exact=True).click()
    expect(variant).to_have_value("post-norm")
    settle(page, PATIENCE)
    page.get_by_role("button", name="Run it again on the Train page").click()
    expect(page.get_by_role("button", name="Start training")).to_be_visible(timeout=PATIENCE)
    page.get_by_text("The command").click()
    command = page.get_by_test_id("stCode").last
    expect(command).to_contain_text("--task reverse", timeout=PATIENCE)
    for word in (
        "--preset tiny",
        "eval_every=50",
        "eval_sentences=160",
        "norm_first=false",
    ):
        expect(command).to_contain_text(word)
