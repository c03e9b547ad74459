"""The views of attention (all heads, one head, lines, sentence), linked and switched in the browser."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import msgspec
import streamlit as st

from explorer.browser.carrier import carry_decoding
from explorer.browser.registration import component
from explorer.browser.reports import read_place
from explorer.browser.structs import Position, ViewMount, ViewReport
from explorer.browser.sync import settle
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding
from explorer.decoding.view_text import parse_view
from model.config import AttentionKind
from model.trace import kinds_of

DEFAULT_VIEW = "heads"
_component = component("heads", "heads")


@dataclass(frozen=True)
class HeadsResult:
    """The place, the view with its options ("" = all heads), and whether to explain a cell.

    `explain` is true only in the run in which the user asked for it.
    """

    place: Place
    view: str
    explain: bool = False


def heads_view(
    decoding: Decoding, wanted: Place, view: str, *, key: str, explains: bool = False, compact: bool = False
) -> HeadsResult:
    """Draw the views and return where they are, which the browser reports 250 ms after the last move.

    `wanted` and `view` say where they open; a start that differs from what was returned last time moves them there.
    `explains`: the page can explain a cell; the views then offer a button for it. `compact`: as few controls as
    possible.

    Raises:
        ValueError: the trace has no attention, or a weight is not a number.
    """
    kinds = kinds_of(decoding.trace)
    if not kinds:
        raise ValueError("There is no attention in this trace.")
    settled = settle(key, decoding.seq, (wanted, view or DEFAULT_VIEW), partial(read_place, decoding.trace))
    mount = ViewMount(decoding.seq, settled.turn, Position.of(*settled.start), explains, compact)
    place, shown = settled.now
    with st.container(gap=None):
        carry_decoding(decoding, key=f"{key}-decoding", kinds=_opened(decoding, place, shown, key))
        result = _component(
            key=key,
            data=asdict(mount),
            on_at_change=_nothing,
            on_open_change=_nothing,
            width="stretch",
            height="content",
        )
    return HeadsResult(place, "" if shown == DEFAULT_VIEW else shown, result.get("open") == "cell")


def _opened(decoding: Decoding, place: Place, view: str, key: str) -> tuple[AttentionKind, ...]:
    """The kinds of attention that the views have needed so far in this decoding."""
    kinds = kinds_of(decoding.trace)
    memory = st.session_state.setdefault(f"_{key}_opened", {})
    if memory.get("seq") != decoding.seq:
        memory.update(seq=decoding.seq, kinds=set())
    wanted = {place.kind, *(kinds if parse_view(view).beside else ())}
    state = st.session_state.get(key)
    try:
        report = msgspec.convert(state.get("at") if state else None, ViewReport)
    except msgspec.ValidationError:
        report = None
    if report is not None and report.seq == decoding.seq:
        wanted |= set(report.wanted)
    memory["kinds"] |= wanted & set(kinds)
    return tuple(kind for kind in kinds if kind in memory["kinds"])


def cell_of(place: Place) -> tuple[int, int] | None:
    """The chosen cell as encoded in the address: key 0 where an encoder row, but no key, is chosen."""
    if place.col is not None:
        return place.row, place.col
    return (place.row, 0) if place.kind == "encoder" and place.row > 1 else None


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
