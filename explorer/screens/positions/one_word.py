"""The tab One word: the position that is added to one token's embedding."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_caption, draw_plot
from model.analysis.token_vectors import token_vectors


def draw_word_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw embedding, position and sum for one token, and the lengths of both for all tokens."""
    tokens = translation.trace.src_tokens or translation.trace.read_tokens
    index = st.select_slider(
        t("Token"),
        range(len(tokens)),
        0,
        format_func=lambda i: f"{i + 1} {plain(tokens[i])}",
        key=f"pe_word_{len(tokens)}",
        bind=URL,
    )
    vectors = runtime.computed(translation.model, token_vectors, translation.src_ids or translation.read_ids)
    position = None if vectors.positions is None else vectors.positions[index]
    draw_plot(figures.word_plot(tokens[index], index, vectors.embeddings[index], position), "pe_word")
    columns: Columns = {
        t("position (from 0)"): list(range(len(tokens))),
        t("token"): list(tokens),
        t("embedding × √d_model (length)"): [round(length, 3) for length in vectors.embedding_lengths],
    }
    if vectors.positions is not None:
        columns[t("position (length)")] = [round(length, 3) for length in vectors.position_lengths]
        columns[t("position / embedding (%)")] = [round(100 * share, 1) for share in vectors.position_shares]
    draw_table(columns, t("Length of the embedding and of the position of each token"), file="lengths")
    config = model.model_config
    is_root = config.scale_embeddings and not config.embedding_factor
    factor = f"√{config.d_model} = {vectors.factor:.2f}" if is_root else f"{vectors.factor:g}"
    draw_caption(
        t(
            "The embedding is multiplied by {factor} before the position is added, so that the position does not "
            "drown out the word. Row 0 is the first token: the formula counts from 0, tokens on screen from 1.",
            factor=factor,
        )
    )
