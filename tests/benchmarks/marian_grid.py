"""All heads of an imported model of OPUS-MT's size at once, in the app: from the click to the painted picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import torch

from explorer.decoding.selection import Selection, to_query
from model.checkpoint import load_model
from model.config import EOS
from model.importing.import_folder import import_folder
from tests.benchmarks.lab import Lab, until_painted
from tests.benchmarks.marian import peer_folder
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median

NAME, N_TOKENS, N_TABS = "opus", 60, 4
WORDS = "A young man rides a small red bike and two dogs run over the green grass. "


def address(folder: Path) -> str:
    """The Attention page with a sentence of `N_TOKENS` source tokens and a given translation of as many."""
    source = load_model(folder).source
    text = (WORDS * 4)[: source.encode(WORDS * 4).offsets[N_TOKENS - 1][0]]
    path = (*range(4, 4 + N_TOKENS - 1), EOS)
    return f"/attention?{urlencode(to_query(Selection(model=NAME, text=text, path=path, kind='cross')))}"


def open_all(lab: Lab, url: str, tiles: int) -> float:
    """Milliseconds from the click on "Side by side" in a new tab to the frame with every head of all three kinds."""
    page = lab.open(url, ".explorer[data-drawn$=' cross']")
    page.wait_for_timeout(500)
    drawn = "__bench.find('.explorer')?.dataset.drawn.endsWith('encoder+decoder+cross')"
    took = until_painted(page, "click", page.get_by_role("button", name="Side by side").click, drawn)
    if page.locator(".tile").count() != tiles:
        raise RuntimeError(f"{page.locator('.tile').count()} thumbnails instead of {tiles}")
    page.close()
    return took


@benchmark("marian-grid", threads=1, peers=("transformers",))
@torch.inference_mode()
def measure(lab: Lab) -> Iterator[Row]:
    """Import once; then one new tab after another on one server."""
    checkpoints = lab.folder / "models"
    peer_folder(lab.folder / "theirs")
    import_folder(lab.folder / "theirs", checkpoints / NAME)
    config = load_model(checkpoints / NAME).model_config
    layers = config.n_encoder_layers + 2 * config.n_decoder_layers
    heads = config.n_encoder_layers * config.n_encoder_heads + 2 * config.n_decoder_layers * config.n_decoder_heads
    url = lab.serve({"HEADLIGHT_CHECKPOINTS": str(checkpoints)}).url + address(checkpoints / NAME)
    times = [open_all(lab, url, heads + layers) for _ in range(lab.times(N_TABS))]  # with a tile for each layer's mean
    yield Row.within(
        f"all {heads} heads of an imported model, {N_TOKENS} × {N_TOKENS} tokens: click to painted",
        median(times),
        "ms",
        300,
        detail=f"in a new tab each: {', '.join(f'{each:.0f}' for each in times)} ms; in the app, server included",
    )
