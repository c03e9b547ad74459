"""The panel One cell: the computation of one weight, the head's output, and which parts wrote query and key."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.browser.cell import cell_view
from explorer.decoding.coordinates import Place, strongest_cell
from explorer.decoding.score_parts import score_table, terms_map
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Explanation, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime, session
from explorer.web.figures import draw_terms
from model.trace import VISIBLE


def draw(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the row of the chosen cell from queries and keys to the head's output, and the terms of the cell's score."""
    del selection
    st.markdown(f"##### {t('Where does this weight come from?')}")
    in_view = at.head
    at, said = strongest_cell(translation.trace, at)
    try:
        layer, head = at.index
        with st.spinner(t("Looking at the model …")):
            explanation = runtime.explanation(translation, at.kind, layer, head, at.row - 1)
        cell_view(
            explanation.details,
            translation.trace,
            at,
            translation.seq,
            in_view=in_view,
            said=said,
            key="one_cell",
            on_move=partial(_move, at.row),
        )
    except (runtime.NotTheModels, ValueError) as missing:
        st.info(plain(str(missing)))
        return
    masked = translation.trace.mask(at.kind)[at.row - 1, (at.column or 1) - 1] != VISIBLE
    with st.expander(t("Which parts of the model wrote this score?"), key="score_parts"):
        _draw_terms(explanation, translation, at, masked=bool(masked))


def _move(row: int, head: int, column: int) -> None:
    """Choose another cell of the row; the views of heads follow."""
    session.move(head=head, cell=(row, column))


def _draw_terms(explanation: Explanation, translation: Translation, at: Place, *, masked: bool) -> None:
    """Draw the score as a sum over pairs of parts, one that wrote the query and one that wrote the key."""
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
    draw_terms(terms_map(table.terms, table.query_parts, table.key_parts, ""), table.words, "score_terms")
    st.caption(
        t(
            "Exact for this sentence: the standard deviations of the norms, the weights of earlier heads and the "
            "activations of feed-forward networks are held at the values that they have in it."
        )
    )
