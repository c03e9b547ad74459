"""What the browser reports, checked: messages are not trusted."""

from __future__ import annotations

from typing import Any

import msgspec

from explorer.browser.structs import Position
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import place_in
from explorer.decoding.view_text import is_view
from model.trace import AttentionTrace


def read_place(trace: AttentionTrace, message: Any) -> tuple[Place, str] | None:
    """A reported position as a place that exists in the trace, and the view; None if it is no position at all."""
    try:
        return place_of(trace, msgspec.convert(message, Position))
    except msgspec.ValidationError:
        return None


def place_of(trace: AttentionTrace, at: Position) -> tuple[Place, str]:
    """A position, moved into the trace, and the view of heads."""
    cell = None if at.kind != "encoder" and at.column is None else (at.row, at.column or 0)
    place = place_in(trace, kind=at.kind, layer=at.layer, head=at.head, step=at.step, cell=cell)
    return place, at.view if is_view(at.view) else ""
