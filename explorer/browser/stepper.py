"""The stepper: a whole decoding in the browser, stepped, played and explored without asking the server.

The browser sends messages in two cases only: it reports the position 250 ms after the last move (one message for any
number of moves), and it asks for a fork when the user picks another next token.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import msgspec
import streamlit as st

from explorer.browser.carrier import carry_decoding
from explorer.browser.registration import component
from explorer.browser.reports import place_of, read_place
from explorer.browser.structs import ForkReport, Position, ViewMount
from explorer.browser.sync import settle
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding

_component = component("stepper", "stepper")


@dataclass(frozen=True)
class Fork:
    """A request to continue with another token: row `step` (from 1) is to predict `token_id`."""

    step: int
    token_id: int


@dataclass(frozen=True)
class StepperResult:
    """The current place, and the fork that was requested in this run, if any."""

    place: Place
    fork: Fork | None


def stepper(decoding: Decoding, wanted: Place, *, key: str) -> StepperResult:
    """Draw a decoding, opened at a place (see :func:`explorer.decoding.decoding.place_in`); return where the view is.

    Raises:
        ValueError: the trace has no cross-attention, or does not fit together.
    """
    if not decoding.trace.cross.size:
        raise ValueError("The trace has no cross-attention; the stepper needs it.")
    settled = settle(key, decoding.seq, (wanted, ""), partial(read_place, decoding.trace))
    mount = ViewMount(decoding.seq, settled.turn, Position.of(*settled.start), explains=False, compact=False)
    with st.container(gap=None):
        carry_decoding(decoding, key=f"{key}-decoding")
        result = _component(
            key=key,
            data=asdict(mount),
            on_at_change=_nothing,
            on_fork_change=_nothing,
            width="stretch",
            height="content",
        )
    forked = _forked(result.get("fork"), decoding)
    return forked or StepperResult(settled.now[0], None)


def _forked(message: Any, decoding: Decoding) -> StepperResult | None:
    """The fork that a message asks for and where, if it is about this decoding and names a token on offer."""
    try:
        asked = msgspec.convert(message, ForkReport)
    except msgspec.ValidationError:
        return None
    place, _ = place_of(decoding.trace, asked.place)
    offered = {int(token) for token in decoding.trace.top_ids[place.step - 1]}
    if asked.seq != decoding.seq or asked.token_id not in offered:
        return None
    return StepperResult(place, Fork(place.step, asked.token_id))


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
