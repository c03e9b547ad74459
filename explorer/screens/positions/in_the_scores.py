"""The tab In the scores: what each kind of positions does to attention scores, as rows, as rotation, as distance."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from torch import Tensor

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.locale.glossary import explained
from explorer.locale.text import percent
from explorer.screens.positions.table_size import TableSize, choose_size
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.position_schemes import no_table
from model.analysis.position_scores import (
    HEADS,
    ByDistance,
    by_distance,
    scores_with_distance,
    scores_with_rotation,
    scores_with_rows,
)
from model.positions import sinusoidal_table

LEARNED = "learned (this model)"
WHERE = {
    "sinusoidal": "added to embeddings",
    LEARNED: "added to embeddings",
    "none": "nowhere",
    "RoPE": "turns queries and keys",
    "ALiBi": "taken off the scores",
}


def draw_scores_tab(model: ModelDescription) -> None:
    """One scheme's scores as a map and by distance, and all schemes in a table."""
    size = choose_size(model.model_config)
    head = 1
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    schemes = _schemes(size, model, head)
    with left:
        name = st.segmented_control("Positions", list(schemes), default="RoPE", required=True, key="pe_in", bind=URL)
        name = name if name in schemes else "RoPE"
    if name == "ALiBi":
        with right:
            head = int(st.slider(f"Head of {HEADS}", 1, HEADS, 1, key="pe_slope", bind=URL))
        schemes = _schemes(size, model, head)
    scores = {scheme: make() for scheme, make in schemes.items()}
    measured = {scheme: by_distance(values) for scheme, values in scores.items()}
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.score_map(name, scores[name].numpy()), f"pe_scores_{name}")
    with right:
        draw_plot(figures.by_distance_plot(name, measured[name]), f"pe_by_distance_{name}")
    draw_table(comparison(measured), "What scores know of positions, by scheme")
    st.caption(
        explained(
            "The same random word stands at every position and is projected by the same random matrices, so that only "
            "position can make a difference; nothing is trained here. Rows that are added mix with the word, and so "
            "the score depends on where the pair stands. A rotation (Su et al. 2021) and a distance (Press et al. "
            "2022) act on the pair: the score depends on how far apart the two are, and on nothing else of their "
            "places."
        )
    )


def _schemes(size: TableSize, model: ModelDescription, head: int) -> dict[str, Callable[[], Tensor]]:
    """The scores of each scheme, made when called."""
    length, width = size.length, size.d_model
    schemes: dict[str, Callable[[], Tensor]] = {
        "sinusoidal": lambda: scores_with_rows(sinusoidal_table(length, width, size.base)),
        "RoPE": lambda: scores_with_rotation(length, width, size.base),
        "ALiBi": lambda: scores_with_distance(length, width, head),
        "none": lambda: scores_with_rows(no_table(length, width)),
    }
    if model.model_config.positions == "learned":
        with runtime.model(model.name) as translator:
            weight = translator.loaded.transformer.positions_src.embedding.weight.detach().double()
        rows = weight[:length]
        schemes[LEARNED] = lambda: scores_with_rows(rows)
    return schemes


def comparison(measured: dict[str, ByDistance]) -> Columns:
    """A row for each scheme: where it acts, and what its scores depend on."""
    columns: Columns = {"positions": [], "how they act": [], "distance alone decides": [], "before ≠ after": []}
    for name, found in measured.items():
        flat = max(found.high) - min(found.low) <= 1e-9
        columns["positions"].append(name)
        columns["how they act"].append(WHERE[name])
        decides = "✓ exactly" if found.spread < 1e-9 else f"✗ varies by {percent(found.spread)} of the range"
        columns["distance alone decides"].append("all scores are equal" if flat else decides)
        columns["before ≠ after"].append(
            "no" if found.lopsided < 1e-9 else f"by {percent(found.lopsided)} of the range"
        )
    return columns
