"""The views of a decoding: the stepper, and all heads, one head, lines and the sentence, linked in the browser.

They step, play and switch without asking the server. The browser sends a message when the view has moved, 250 ms after
the last move, and when the user picks another next token or asks for a cell to be explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.browser.carrier import carry_decoding
from explorer.browser.registration import as_data, component, from_browser, nothing
from explorer.browser.structs import ForkReport, Position, ViewMount, ViewReport
from explorer.browser.sync import Settled, settle
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding, can_be_stepped, place_in
from explorer.decoding.view_options import format_view, is_view, parse_view
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

DEFAULT_VIEW = "heads"
_stepper = component("stepper", "stepper")
_heads = component("heads", "heads")


@dataclass(frozen=True)
class Fork:
    """A request to continue with another token: row `step` (from 1) is to predict `token_id`."""

    step: int
    token_id: int


@dataclass(frozen=True)
class StepperResult:
    """The current place, the fork that was requested in this run, if any, and the options ("" = the default)."""

    place: Place
    fork: Fork | None
    view: str = ""


@dataclass(frozen=True)
class HeadsResult:
    """The place, the view with its options ("" = all heads), and whether to explain a cell.

    `explain` is true only in the run in which the user asked for it.
    """

    place: Place
    view: str
    explain: bool = False


def stepper(decoding: Decoding, wanted: Place, view: str = "", *, key: str) -> StepperResult:
    """Draw a decoding, opened at a place (see :func:`explorer.decoding.decoding.place_in`); return where the view is.

    Of the options in `view`, the stepper has whole words and guessing; it returns the others as they are.

    Raises:
        ValueError: the trace has neither cross-attention nor a text that goes on, or does not fit.
    """
    if not can_be_stepped(decoding.trace):
        raise ValueError("The trace has neither cross-attention nor a text that goes on; the stepper needs one.")
    settled = _settled(key, decoding, wanted, view or DEFAULT_VIEW)
    (place, opened), (_, now) = settled.start, settled.now
    start = Position(**vars(place), options=parse_view(opened))
    mount = ViewMount(decoding.seq, settled.turn, start, explains=False, compact=False)
    with st.container(gap=None):
        carry_decoding(decoding, key=f"{key}-decoding")
        result = _stepper(key=key, data=as_data(mount), on_at_change=nothing, on_fork_change=nothing)
    return _forked(result.get("fork"), decoding) or StepperResult(settled.now[0], None, _text(now))


def heads_view(
    decoding: Decoding, wanted: Place, view: str, *, key: str, explains: bool = False, compact: bool = False
) -> HeadsResult:
    """Draw the views of heads and return where they are.

    `wanted` and `view` say where they open; a start that differs from what was returned last time moves them there.
    `explains`: the page can explain a cell; the views then offer a button for it. `compact`: as few controls as
    possible.

    Raises:
        ValueError: the trace has no attention, or a weight is not a number.
    """
    if not kinds_of(decoding.trace):
        raise ValueError("There is no attention in this trace.")
    settled = _settled(key, decoding, wanted, view or DEFAULT_VIEW)
    (start, opened), (place, now) = settled.start, settled.now
    mount = ViewMount(
        decoding.seq, settled.turn, Position(**vars(start), options=parse_view(opened)), explains, compact
    )
    with st.container(gap=None):
        carry_decoding(decoding, key=f"{key}-decoding", kinds=_opened(decoding, place, now, key))
        result = _heads(key=key, data=as_data(mount), on_at_change=nothing, on_open_change=nothing)
    return HeadsResult(place, _text(now), result.get("open") == "cell")


def _settled(key: str, decoding: Decoding, wanted: Place, view: str) -> Settled[tuple[Place, str]]:
    """Decide where the view with this key is. Messages are not trusted."""

    def read(message: Any) -> tuple[Place, str] | None:
        if (position := from_browser(Position, message)) is None:
            return None
        place, reported = _place_of(decoding.trace, position)
        return place, reported or DEFAULT_VIEW  # options may be missing

    return settle(key, decoding.seq, (wanted, view), read)


def _place_of(trace: AttentionTrace, at: Position) -> tuple[Place, str]:
    """A reported position, clamped to the trace, and the text of the view of heads."""
    cell = None if at.kind != "encoder" and at.column is None else (at.row, at.column or 0)
    place = place_in(trace, kind=at.kind, layer=at.layer, head=at.head, step=at.step, cell=cell)
    view = "" if at.options is None else format_view(at.options)
    return place, view if is_view(view) else ""


def _forked(message: Any, decoding: Decoding) -> StepperResult | None:
    """The place and fork that a message requests; None unless it names this decoding and a token on offer."""
    report = from_browser(ForkReport, message)
    if report is None:
        return None
    place, view = _place_of(decoding.trace, report.place)
    offered = {int(token) for token in decoding.trace.top_ids[place.step - 1]}
    if report.seq != decoding.seq or report.token_id not in offered:
        return None
    return StepperResult(place, Fork(place.step, report.token_id), _text(view))


def _text(view: str) -> str:
    """A view as the address has it: the default is left out."""
    return "" if view == DEFAULT_VIEW else view


def _opened(decoding: Decoding, place: Place, view: str, key: str) -> tuple[AttentionKind, ...]:
    """The kinds of attention that the views have needed so far in this decoding."""
    kinds = kinds_of(decoding.trace)
    memory = st.session_state.setdefault(f"_{key}_opened", {})
    if memory.get("seq") != decoding.seq:
        memory.update(seq=decoding.seq, kinds=set())
    wanted = {place.kind, *(kinds if parse_view(view).beside else ())}
    state = st.session_state.get(key)
    if report := from_browser(ViewReport, state.get("at") if state else None, decoding.seq):
        wanted |= set(report.wanted)
    memory["kinds"] |= wanted & set(kinds)
    return tuple(kind for kind in kinds if kind in memory["kinds"])


def cell_of(place: Place) -> tuple[int, int] | None:
    """The chosen cell as encoded in the address: key 0 where an encoder row, but no key, is chosen."""
    if place.column is not None:
        return place.row, place.column
    return (place.row, 0) if place.kind == "encoder" and place.row > 1 else None
