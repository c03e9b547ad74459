"""The panel of one cell: from the query and the key vector to the weight, and on to what the head gives out."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.attention.cell import Cell, cell, words
from explorer.attention.coordinates import NoSingleHead, Place
from explorer.attention.names import head_title
from explorer.figures.query_key_products import product_figure
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import Translation
from explorer.web import head_numbers
from explorer.web.figures import draw_figure
from model.config import AttentionKind


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The computation behind the chosen cell; each number follows from those before it."""
    del selection
    st.markdown("##### Where does this weight come from?")
    if at.col is None:
        st.info("Choose a cell first: click one in the map of a head, or move to it with the arrow keys.")
        return
    try:
        layer, head = at.index
        found = cell(head_numbers.details(shown, at.kind, layer, head), at.row - 1, at.col - 1)
    except (NoSingleHead, head_numbers.NotTheModels, ValueError) as without:
        st.info(plain(str(without)))
        return
    query, key = tokens_of(shown, at.kind, at.row, at.col)
    st.markdown(f"**{plain(head_title(at.kind, at.layer, at.head))}**: {plain(words(found, query, key))}")
    if not found.reproduced:
        st.warning("The numbers shown are rounded too far to give back the recorded weights of this row exactly.")
    left, right = st.columns(2)
    with left:
        draw_figure(product_figure(found))
        st.caption(plain(_score_line(found)))
    with right:
        _row(found, shown, at)
    st.markdown("**Every dimension of the head**")
    st.dataframe(dimension_table(found), hide_index=True, alt="Query, key, product, value and output by dimension")
    st.caption(plain(_output_line(found)))


def tokens_of(shown: Translation, kind: AttentionKind, row: int, column: int) -> tuple[str, str]:
    """Query and key with their positions, from 1: "2 je", "3 red"."""
    trace = shown.trace
    queries = trace.src_tokens if kind == "encoder" else trace.read_tokens
    keys = trace.read_tokens if kind == "decoder" else trace.src_tokens
    return f"{row} {queries[row - 1]}", f"{column} {keys[column - 1]}"


def _score_line(found: Cell) -> str:
    divided = (
        f" ÷ √{len(found.dimensions)} = {found.divisor}" if found.divisor != "1" else ", not scaled in this model,"
    )
    return f"Sum of the products {found.total}{divided} gives the score {found.score}."


def _row(found: Cell, shown: Translation, at: Place) -> None:
    """Score, exponential and weight of every key that this query could look at."""
    st.markdown("**Softmax over the row**")
    st.dataframe(row_table(found, shown, at.kind, at.row), hide_index=True, alt="Score, exponential and weight by key")
    total = sum(float(competitor.exponential) for competitor in found.row if not competitor.masked)
    st.caption(
        plain(
            f"Each weight is its exponential e^(score − highest score) divided by their sum, {total:.6g}. Masked keys "
            f"have no part in it: their weight is exactly 0."
        )
    )


def row_table(found: Cell, shown: Translation, kind: AttentionKind, row: int) -> list[dict[str, Any]]:
    """A row a key, as shown; the chosen one is marked."""
    return [
        {
            "": "→" if competitor.key == found.key else "",
            "key": tokens_of(shown, kind, row, competitor.key + 1)[1],
            "score": competitor.score,
            "e^(score − highest)": competitor.exponential or "masked",
            "weight": competitor.weight or "masked",
        }
        for competitor in found.row
    ]


def dimension_table(found: Cell) -> list[dict[str, Any]]:
    """A row a dimension: the digits as strings, so that none is lost on the way to the screen."""
    return [
        {
            "dimension": i,
            "query": dimension.query,
            "key": dimension.key,
            "query × key": dimension.product,
            "value": dimension.value,
            "weight × value": dimension.weighted,
            "head output": dimension.output,
        }
        for i, dimension in enumerate(found.dimensions, start=1)
    ]


def _output_line(found: Cell) -> str:
    return (
        f"‖weight × value‖ = {found.norm}; behind the output projection W_O it adds a vector of length {found.written} "
        f"to the residual stream (Kobayashi et al. 2020). The head's output is the sum over all keys, of length "
        f"{found.head_output}."
    )
