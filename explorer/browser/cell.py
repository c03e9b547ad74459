"""One cell: a row of one head, from query and keys over products, scores and weights to the head's output.

The message (wire.py) has the vectors, scores and weights of the row as they were computed; the browser shows how each
number follows from those before it (js/cell.js), here and on a page without a server, which computes the same message
itself (js/live/cell.js).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.cell_structs import CellMessage, CellReport
from explorer.browser.registration import component, from_browser
from explorer.decoding.coordinates import Place
from explorer.locale.text import plural, printable
from model.trace import AttentionTrace

if TYPE_CHECKING:
    from model.analysis.head_details import HeadDetails, RowDetails

_component = component("cell", "cell")


def cell_view(
    details: HeadDetails,
    trace: AttentionTrace,
    at: Place,
    seq: str,
    *,
    in_view: int,
    said: str,
    key: str,
    on_move: Callable[[int, int], None],
) -> None:
    """Draw the row of a head of the decoding `seq`, opened at a place with a column, below a map of the head `in_view`;
    `said` tells why this cell.

    `on_move` is called with the head and the column that the reader moved to, from 1, before the next run.

    Raises:
        ValueError: as for :func:`encode`.
    """
    message = encode(details, trace, at, seq, in_view=in_view, said=said)
    shape = len(trace.weights(at.kind)[0]), len(_row(details, at).weights)

    def moved() -> None:
        place = moved_to(st.session_state[key].get("at"), at, seq, shape)
        if place is not None:
            on_move(*place)

    _component(key=key, data=message, on_at_change=moved)


def moved_to(message: Any, at: Place, seq: str, shape: tuple[int, int]) -> tuple[int, int] | None:
    """The head and column that a browser's message names; None if it is about another row, or there is no such cell.

    `shape`: the numbers of heads and keys.
    """
    report = from_browser(CellReport, message)
    if report is None:
        return None
    to = report.head, report.column
    here = CellReport(seq, at.kind, at.layer, report.head, at.row, report.column)
    there = all(1 <= number <= most for number, most in zip(to, shape, strict=True))
    return to if report == here and there else None


def encode(details: HeadDetails, trace: AttentionTrace, at: Place, seq: str, *, in_view: int, said: str = "") -> bytes:
    """Encode the row of a head at a place with a column, as the message described at the top of this file.

    Raises:
        ValueError: there is no such row, or the key did not exist yet when the row was computed.
    """
    row = _row(details, at)
    queries, keys = trace.tokens(at.kind)
    message = CellMessage(
        kind=at.kind,
        layer=at.layer,
        head=at.head,
        row=at.row,
        column=at.column or 1,
        query=printable(queries[at.row - 1]),
        predicted="" if at.kind == "encoder" else printable(trace.predicted_tokens[at.row - 1]),
        tokens=[printable(key) for key in keys],
        scaled=details.scaled,
        gated=row.gate is not None,
        in_view=in_view,
        said=said,
        part="cell",
        seq=seq,
    )
    arrays: dict[str, NDArray[Any]] = {
        "query": row.query,
        "keys": row.keys,
        "values": row.values,
        "scores": row.scores,
        "weights": row.weights,
        "mask": trace.mask(at.kind)[at.row - 1, : len(row.weights)].astype(np.uint8),
        "output": row.output,
    }
    return wire.write(vars(message), arrays if row.bias is None else arrays | {"bias": row.bias})


def _row(details: HeadDetails, at: Place) -> RowDetails:
    """The row of a place, whose key it must have seen.

    Raises:
        ValueError: as for :func:`encode`.
    """
    if not 1 <= at.row <= len(details.rows):
        raise ValueError(f"This map has {plural(len(details.rows), 'row')}; there is no row {at.row}.")
    row = details.rows[at.row - 1]
    if not 1 <= (at.column or 0) <= len(row.weights):
        raise ValueError(
            f"Row {at.row} can see {plural(len(row.weights), 'key')}; key {at.column} did not exist yet when it was "
            f"computed."
        )
    return row
