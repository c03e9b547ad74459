"""What leaves the Attention page in a real browser and comes back: files, manifest, links, tree, uploaded attention."""

import csv
import html
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translator
from model.config import DecodeConfig
from tests.browser import Server, click_cell, download, rest
from tests.e2e.address import TEXT, Visit, query, wait_for
from tests.explorer.attention_files import HOSTILE, npz, weights_of

pytestmark = pytest.mark.slow  # many files are created and opened

HEAD = {"model": "adjective-swap", "text": TEXT, "layer": "2", "head": "2", "view": "head", "step": "3"}


def address(**changes: str) -> str:
    return f"/attention?{urlencode(HEAD | changes)}"


def in_words(page: Page) -> list[str]:
    """What the views say."""
    parts = (".explorer figcaption:visible", ".cell", ".caption", ".walk output", ".panel select[name=scale]")
    return [page.locator(part).first.evaluate("e => e.value ?? e.innerText") for part in parts]


@pytest.mark.nightly
def test_a_manifest_reopens_the_same_view(
    visit: Visit, elsewhere: Visit, server: Server, translator: Translator, tmp_path: Path
) -> None:
    path = (*translator.translate(TEXT, DecodeConfig()).path[:1], 9)
    chosen = {"path": "-".join(map(str, path)), "kind": "decoder", "view": "head.log", "cell": "3-2"}
    page = visit(address(panel="export", **chosen))
    expect(page.get_by_text("a chosen path")).to_be_visible()
    file = download(page, "Manifest", tmp_path)
    assert json.loads(file.read_text())["model"]["name"] == "adjective-swap"
    other = elsewhere(f"{server.url}/attention?model=reverse&text=abc&view=text&panel=export")
    other.locator('input[type="file"]').set_input_files(file)
    wait_for(other, model="adjective-swap", cell="3-2")
    expect(other.get_by_text("a chosen path")).to_be_visible()
    expect(other.locator(".cell")).to_contain_text("weight")
    assert in_words(other) == in_words(page)
    assert query(other) == query(page)


@pytest.mark.nightly
def test_a_node_of_the_tree_opens_its_attention(visit: Visit, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 2400})  # all of the tree, below the views
    visit(address(panel="tree", step="1"))
    chart = page.locator(".js-plotly-plot")
    expect(chart).to_be_visible()
    rest(page)
    # The first branch that beam search dropped: its position, the length of its path, and its token.
    x, y, step, token = chart.evaluate(
        """plot => {
          const trace = plot.data.find((each) => each.name === "dropped"), { xaxis, yaxis } = plot._fullLayout;
          const box = plot.getBoundingClientRect();
          return [box.left + xaxis._offset + xaxis.d2p(trace.x[0]), box.top + yaxis._offset + yaxis.d2p(trace.y[0]),
            trace.x[0], trace.text[0]];
        }"""
    )
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    wait_for(page, step=str(step))
    expect(page.get_by_text("a chosen path")).to_be_visible()
    assert len(query(page)["path"].split("-")) == step
    expect(page.locator(".reads")).to_contain_text(re.compile(rf"chosen: {re.escape(html.unescape(token))}\s*$"))


def test_the_attention_of_another_model_is_loaded_and_shown(visit: Visit, tmp_path: Path) -> None:
    tokens = [token or "empty" for token in HOSTILE]
    weights = weights_of(2, 3, len(tokens), len(tokens))
    page = visit(address(panel="own"))
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
