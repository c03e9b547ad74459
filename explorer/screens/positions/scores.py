"""The tab In the scores: what kinds of positions do to attention scores."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.position_values import LEARNED, learned_rows, scores_by_scheme
from explorer.locale.messages import t, translated
from explorer.locale.text import percent
from explorer.screens.positions.sinusoidal import choose_size
from explorer.web import bound, runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_caption, draw_plot
from model.analysis.position_scores import HEADS, ByDistance

IN_SCORES = ("sinusoidal", "RoPE", "ALiBi", "none")
OF_CONFIG = {"sinusoidal": "sinusoidal", "alibi": "ALiBi", "none": "none"}  # what the tab opens on; else on RoPE


def draw_scores_tab(model: ModelDescription) -> None:
    """Draw one scheme's scores as a map and by distance, and all schemes in a table."""
    size = choose_size(model.model_config)
    learned, head = runtime.computed(model.name, learned_rows), 1
    names = [*IN_SCORES, *([] if learned is None else [LEARNED])]
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with left:
        name = bound.segmented(
            t("Positions"), names, default=OF_CONFIG.get(model.model_config.positions, "RoPE"), key="pe_in"
        )
    if name == "ALiBi":
        with right:
            head = int(st.slider(t("Head of {n}", n=HEADS), 1, HEADS, 1, key="pe_slope", bind=URL))
    measured = scores_by_scheme(size, learned, head)
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.score_map(name, measured[name].scores), f"pe_scores_{name}")
    with right:
        draw_plot(figures.by_distance_plot(name, measured[name].by_distance), f"pe_by_distance_{name}")
    draw_table(
        comparison({scheme: each.by_distance for scheme, each in measured.items()}),
        t("What scores depend on, by scheme"),
        file="scores-by-distance",
    )
    draw_caption(
        t(
            "The same random word stands at every position and is projected by the same random matrices, so that "
            "only position can make a difference; nothing is trained here. Rows that are added mix with the word, "
            "and so the score depends on where the pair stands. A rotation (Su et al. 2021) and a distance (Press "
            "et al. 2022) act on the pair: of the positions, the score depends only on how far apart they are."
        )
    )


def comparison(measured: dict[str, ByDistance]) -> Columns:
    """A row for each scheme: where it acts, and what its scores depend on."""
    added = t("added to embeddings")
    where = {
        "sinusoidal": added,
        LEARNED: added,
        "none": t("nowhere"),
        "RoPE": t("turns queries and keys"),
        "ALiBi": t("taken off the scores"),
    }
    return {
        t("positions"): [translated(name) for name in measured],
        t("how they act"): [where[name] for name in measured],
        t("distance alone decides"): [_decides(each) for each in measured.values()],
        t("before ≠ after"): [
            t("no") if each.asymmetry < 1e-9 else t("by {share} of the range", share=percent(each.asymmetry))
            for each in measured.values()
        ],
    }


def _decides(scores: ByDistance) -> str:
    """Whether the distance alone decides a score."""
    if max(scores.high) - min(scores.low) <= 1e-9:
        return t("all scores are equal")
    if scores.spread < 1e-9:
        return t("✓ exactly")
    return t("✗ varies by {share} of the range", share=percent(scores.spread))
