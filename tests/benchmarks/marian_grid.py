"""All heads of an imported model of OPUS-MT's size at once, in the app: from the click to the painted picture."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import urlencode

import torch
from playwright.sync_api import Browser, sync_playwright

from explorer.decoding.selection import Selection, to_query
from model.checkpoint import load_model
from model.config import EOS
from model.importing.import_folder import import_folder
from tests.benchmarks.grid import PATIENCE_MS, SCRIPT
from tests.benchmarks.marian import peer_folder
from tests.benchmarks.page import SCREEN
from tests.benchmarks.registry import Row, benchmark, median, torch_threads
from tests.browser import launch, serve, settle

NAME, N_TOKENS, N_TABS = "opus", 60, 4
WORDS = "A young man rides a small red bike and two dogs run over the green grass. "


def address(folder: Path) -> str:
    """The Attention page with a sentence of `N_TOKENS` source tokens and a given translation of as many."""
    source = load_model(folder).source
    text = (WORDS * 4)[: source.encode(WORDS * 4).offsets[N_TOKENS - 1][0]]
    path = (*range(4, 4 + N_TOKENS - 1), EOS)
    return f"/attention?{urlencode(to_query(Selection(model=NAME, text=text, path=path, kind='cross')))}"


def open_all(browser: Browser, url: str, tiles: int) -> float:
    """Milliseconds from the click on "Side by side" in a new tab to the frame with every head of all three kinds."""
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.wait_for_selector(".explorer[data-drawn$=' cross']")
    settle(page, PATIENCE_MS)
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    page.wait_for_timeout(500)
    want = (
        "() => __bench.arm('click', () => __bench.find('.explorer')?.dataset.drawn.endsWith('encoder+decoder+cross'))"
    )
    page.evaluate(want)
    page.get_by_role("button", name="Side by side").click()
    took: float = page.evaluate("__bench.pending")
    if page.locator(".tile").count() != tiles:
        raise RuntimeError(f"{page.locator('.tile').count()} thumbnails instead of {tiles}")
    page.close()
    return took


@benchmark("marian-grid")
def measure() -> list[Row]:
    """Import once; then one new tab after another on one server."""
    with tempfile.TemporaryDirectory() as parent:
        with torch.inference_mode(), torch_threads(1):
            peer_folder(Path(parent) / "theirs")
            import_folder(Path(parent) / "theirs", Path(parent) / "models" / NAME)
        return measured(Path(parent) / "models")


def measured(checkpoints: Path) -> list[Row]:
    """The rows for the model `NAME` of a folder of models."""
    config = load_model(checkpoints / NAME).model_config
    layers = config.n_encoder_layers + 2 * config.n_decoder_layers
    heads = config.n_encoder_layers * config.n_encoder_heads + 2 * config.n_decoder_layers * config.n_decoder_heads
    with sync_playwright() as playwright, serve({"HEADLIGHT_CHECKPOINTS": str(checkpoints)}) as server:
        browser = launch(playwright)
        url = server.url + address(checkpoints / NAME)
        times = [open_all(browser, url, heads + layers) for _ in range(N_TABS)]  # a tile for each layer's mean, too
        browser.close()
    return [
        Row(
            f"all {heads} heads of an imported model, {N_TOKENS} × {N_TOKENS} tokens: click to painted",
            median(times),
            "ms",
            target="≤ 300 ms",
            met=median(times) <= 300,
            detail=f"in a new tab each: {', '.join(f'{each:.0f}' for each in times)} ms; in the app, server included",
        )
    ]
