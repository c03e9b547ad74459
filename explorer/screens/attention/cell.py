"""The panel One cell: the computation of one weight, the head's output, and which parts wrote query and key."""

from __future__ import annotations

import streamlit as st

from explorer.charts.bars import product_figure
from explorer.charts.score_terms import terms_plot
from explorer.decoding import cell as cells
from explorer.decoding.coordinates import NoSingleHead, Place
from explorer.decoding.score_parts import score_table
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Explanation, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import page_parts, runtime
from explorer.web.figures import draw_figure, draw_table


def draw(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the computation of the chosen cell's weight; each number follows from those before it."""
    del selection
    st.markdown(f"##### {t('Where does this weight come from?')}")
    if at.column is None:
        st.info(t("Choose a cell first: click one in the map of a head, or move to it with the arrow keys."))
        return
    try:
        layer, head = at.index
        explanation = runtime.explanation(translation, at.kind, layer, head, at.row - 1)
        computed = cells.cell(explanation.details, at.row - 1, at.column - 1)
    except (NoSingleHead, runtime.NotTheModels, ValueError) as missing:
        st.info(plain(str(missing)))
        return
    query, key = cells.tokens_at(translation.trace, at)
    st.markdown(f"**{plain(at.title)}**: {plain(cells.cell_caption(computed, query, key))}")
    if not computed.reproduced:
        st.warning(
            t("The numbers on screen are rounded too much to reproduce the recorded weights of this row exactly.")
        )
    left, right = st.columns(2)
    with left:
        draw_figure(product_figure(computed))
    with right:
        st.markdown(f"**{t('Softmax over the row')}**")
        rows = cells.softmax_table(computed, translation.trace, at)
        draw_table(rows, t("Score, exponential and weight by key"), file="softmax")
        st.caption(plain(cells.softmax_line(computed)))
    st.markdown(f"**{t('Every dimension of the head')}**")
    about = t("Query, key, product, value and output by dimension")
    draw_table(computed.dimensions, about, file="dimensions")
    st.caption(plain(cells.output_line(computed)))
    _draw_terms(explanation, translation, at, masked=computed.masked)


def _draw_terms(explanation: Explanation, translation: Translation, at: Place, *, masked: bool) -> None:
    """Draw the score as a sum over pairs of parts, one that wrote the query and one that wrote the key."""
    st.markdown(f"**{t('Why does it look there?')}**")
    if explanation.parts is None:
        st.info(plain(explanation.refusal))
        return
    if masked:
        st.caption(t("This cell is masked: whatever its score, its weight is 0."))
    above, together = t("above the row's average"), t("heads together")
    about = t(
        "A softmax does not change if all scores of a row rise by the same amount. The weight depends on how far this "
        "score is above the average of the row."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        of = st.segmented_control(
            t("Take apart"), [above, t("the whole score")], default=above, required=True, key="terms_of", help=about
        )
        by = st.segmented_control(
            t("Parts"),
            [together, t("each head")],
            default=together,
            required=True,
            key="terms_by",
            help=t("Whether the heads of earlier layers are counted together or one by one."),
        )
    table = score_table(explanation.parts, translation.trace, at, above_row=of == above, by_head=by != together)
    page_parts.draw_plot(terms_plot(table.terms, table.query_parts, table.key_parts, table.words), "score_terms")
    st.caption(
        t(
            "Exact, with the standard deviations of the norms, the weights of earlier heads and the activations of "
            "feed-forward networks held at their values in this sentence: the vectors that queries and keys are "
            "projected from are then sums, and their product is a sum over pairs."
        )
    )
