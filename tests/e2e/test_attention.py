"""The Attention page in a real browser: from all heads to one cell, its numbers, and reopening it from a link."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.trace import AttentionTrace
from tests.browser import click_cell, download
from tests.e2e.address import TEXT, Visit, query, wait_for
from tests.explorer.attention_files import HOSTILE, npz, weights_of

ADDRESS = f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}"


def drawn(page: Page, kinds: str = "cross") -> None:
    expect(page.locator(".explorer")).to_have_attribute("data-drawn", re.compile(rf" {re.escape(kinds)}$"))


def test_grid_to_head_to_cell_to_its_numbers_by_keyboard_and_the_link_reopens_it(
    visit: Visit, new_page: Page, trace: AttentionTrace
) -> None:
    page = visit(f"{ADDRESS}&kind=encoder")
    drawn(page, "encoder")
    page.get_by_role("button", name=re.compile("^Layer 1, head 1:")).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("figure.encoder small")).to_contain_text("layer 2 · head 2")
    page.locator("figure.encoder canvas").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weight = f"{trace.encoder[1, 1, 2, 1]:.4f}"
    expect(page.locator(".cell")).to_contain_text(weight)
    why = page.get_by_role("button", name="Where does this number come from?")
    for _ in range(2):  # the term in the map's title explains itself to the keyboard, too
        page.keyboard.press("Shift+Tab")
    expect(why).to_be_focused()
    page.keyboard.press("Enter")
    wait_for(page, kind="encoder", layer="2", head="2", view="head", cell="3-2", panel="cell")
    expect(page.get_by_text("Where does this weight come from?")).to_be_in_viewport()
    expect(page.locator(".arrival:focus")).to_have_attribute("aria-label", "One cell")
    new_page.goto(page.url)  # what another person sees
    drawn(new_page, "encoder")
    for part in (".cell", ".caption", "figure.encoder figcaption"):
        expect(new_page.locator(part)).to_have_text(page.locator(part).inner_text(), use_inner_text=True)
    assert query(new_page) == query(page)


def test_another_key_in_one_cell_is_the_chosen_cell_of_the_whole_page(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"{ADDRESS}&view=head&layer=2&head=3&cell=3-4&panel=cell")
    drawn(page)
    rows = page.locator(".onecell [role=application]")
    expect(page.locator(".onecell .chosen")).to_contain_text("books")
    expect(page.get_by_text("as key and").first).to_contain_text("“books”")
    rows.focus()
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    wait_for(page, cell="3-2", step="3")
    expect(page.locator(".onecell .chosen")).to_contain_text("read")
    expect(page.locator(".cell")).to_contain_text(f"{trace.cross[1, 2, 2, 1]:.4f}")
    expect(page.get_by_text("as key and").first).to_contain_text("“read”")
    expect(rows).to_be_focused()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(".onecell .chain")).to_contain_text("dimension 2:")
    expect(page.locator(".walk output")).to_contain_text("3 of")
    wait_for(page, cell="3-2", step="3")
    click_cell(page.locator("figure.cross canvas"), 2, 0)
    wait_for(page, cell="3-1")
    expect(page.locator(".onecell .chosen")).to_contain_text("i")


@pytest.mark.nightly  # tests/pages/test_hostile.py uploads, the views are those of other decodings
def test_the_attention_of_another_model_is_loaded_and_shown(visit: Visit, tmp_path: Path) -> None:
    tokens = [token or "empty" for token in HOSTILE]
    weights = weights_of(2, 3, len(tokens), len(tokens))
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&panel=own")
    upload = page.locator('input[type="file"]')
    upload.set_input_files({"name": "notes.json", "mimeType": "application/json", "buffer": b'{"encoder": "none"}'})
    expect(page.get_by_text("notes.json cannot be shown")).to_be_visible()
    content = npz(encoder=weights, src_tokens=tokens)
    upload.set_input_files({"name": "mine.npz", "mimeType": "application/octet-stream", "buffer": content})
    own = page.locator(".explorer")
    expect(own.locator(".tile")).to_have_count(2 * 4)
    own.get_by_role("button", name=re.compile("^Layer 1, head 3:")).click()
    click_cell(own.locator("figure.encoder canvas"), 4, 1)
    expect(own.locator(".cell")).to_contain_text(f"{weights[0, 2, 4, 1]:.4f}")
    for view in ("Lines", "Sentence", "All heads"):
        own.get_by_role("button", name=view, exact=True).click()
        expect(own.locator(".caption")).not_to_be_empty()
    own.get_by_role("button", name="One head", exact=True).click()
    page.get_by_text("Download what is on screen").click()
    expect(page.get_by_text("On screen: Encoder self-attention, layer 1, head 3.")).to_be_visible()
    text = download(page, "CSV", tmp_path).read_text(encoding="utf-8-sig")
    saved = [np.float32(row["weight"]) for row in csv.DictReader(text.splitlines())]
    np.testing.assert_array_equal(saved, weights[0, 2].ravel())
