"""Below the computation of one cell: its score taken apart into what wrote the query and what wrote the key."""

from __future__ import annotations

import streamlit as st

from explorer.charts.score_terms import terms_plot
from explorer.decoding.coordinates import NoSingleHead, Place
from explorer.decoding.score_parts import explanation
from explorer.decoding.translator import Translation
from explorer.locale.text import plain
from explorer.web import page_parts, runtime
from model.analysis.score_terms import ScoreTermsError, grouped

_ABOVE, _WHOLE = "above the row's average", "the whole score"
_TOGETHER, _SINGLE = "heads together", "each head"


def draw_terms(shown: Translation, at: Place) -> None:
    """Draw the terms of the chosen cell as a heatmap, in words and as a table."""
    if at.col is None:
        return
    st.markdown("**Why does it look there?**")
    try:
        layer, head = at.index
        terms = runtime.head_terms(shown, at.kind, layer, head, at.row - 1)
    except (NoSingleHead, runtime.NotTheModels, ScoreTermsError) as missing:
        st.info(plain(str(missing)))
        return
    query, key = at.row - 1, at.col - 1
    if not terms.seen[query, key]:
        st.caption("This cell is masked: whatever its score, its weight is 0.")
    with st.container(horizontal=True, vertical_alignment="center"):
        of = st.segmented_control(
            "Take apart",
            [_ABOVE, _WHOLE],
            default=_ABOVE,
            required=True,
            key="terms_of",
            help="A softmax does not change if all scores of a row rise alike. What draws the weight here is how far "
            "this score is above the average of the row.",
        )
        by = st.segmented_control(
            "Parts", [_TOGETHER, _SINGLE], default=_TOGETHER, required=True, key="terms_by", help="Earlier heads."
        )
    table = terms.table_above_row(query, key) if of == _ABOVE else terms.table(query, key)
    parts = terms.query_parts, terms.key_parts
    small, rows, columns = grouped(table, *parts)
    if by == _SINGLE:
        small, rows, columns = table, list(parts[0]), list(parts[1])
    trace = shown.trace
    row_tokens = trace.src_tokens if at.kind == "encoder" else trace.read_tokens
    column_tokens = trace.read_tokens if at.kind == "decoder" else trace.src_tokens
    words = explanation(small, rows, columns, (at.row, row_tokens[query]), (at.col, column_tokens[key]))
    page_parts.draw_plot(terms_plot(small, rows, columns, words), "score_terms")
    st.caption(
        "Exact, with the standard deviations of the norms, the weights of earlier heads and the activations of "
        "feed-forward networks held at what they are in this sentence: the vectors that queries and keys are projected "
        "from are then sums, and their product is a sum over pairs."
    )
