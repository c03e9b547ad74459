"""The attention of another model in a real browser: uploaded, shown and downloaded again."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser import click_cell, download
from tests.e2e.address import TEXT, Visit
from tests.explorer.attention_files import HOSTILE, npz, weights_of


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
