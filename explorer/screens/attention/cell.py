"""The panel of one cell: from the query and key vectors to the weight, and on to the head's output."""

from __future__ import annotations

import streamlit as st

from explorer.charts.query_key_products import product_figure
from explorer.decoding.cell import cell
from explorer.decoding.cell_text import (
    cell_caption,
    dimension_table,
    output_line,
    score_line,
    softmax_line,
    softmax_table,
    tokens_at,
)
from explorer.decoding.coordinates import NoSingleHead, Place
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.locale.text import plain
from explorer.screens.attention.score_terms import draw_terms
from explorer.web import runtime
from explorer.web.figures import draw_figure, draw_table


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The computation behind the chosen cell; each number follows from those before it."""
    del selection
    st.markdown("##### Where does this weight come from?")
    if at.col is None:
        st.info("Choose a cell first: click one in the map of a head, or move to it with the arrow keys.")
        return
    try:
        layer, head = at.index
        computed = cell(runtime.head_details(shown, at.kind, layer, head), at.row - 1, at.col - 1)
    except (NoSingleHead, runtime.NotTheModels, ValueError) as missing:
        st.info(plain(str(missing)))
        return
    query, key = tokens_at(shown.trace, at)
    st.markdown(f"**{plain(at.title)}**: {plain(cell_caption(computed, query, key))}")
    if not computed.reproduced:
        st.warning("The numbers shown are rounded too far to give back the recorded weights of this row exactly.")
    left, right = st.columns(2)
    with left:
        draw_figure(product_figure(computed))
        st.caption(plain(score_line(computed)))
    with right:
        st.markdown("**Softmax over the row**")
        rows = softmax_table(computed, shown.trace, at)
        draw_table(rows, "Score, exponential and weight by key", file="softmax")
        st.caption(plain(softmax_line(computed)))
    st.markdown("**Every dimension of the head**")
    draw_table(dimension_table(computed), "Query, key, product, value and output by dimension", file="dimensions")
    st.caption(plain(output_line(computed)))
    draw_terms(shown, at)
