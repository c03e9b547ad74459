"""The stepper: a whole decoding in the browser, stepped, played and explored without asking the server.

Code and data are sent separately: the component that draws is sent once per browser tab, and a carrier brings each
decoding (see heads.py). The page mounts it with a :class:`StepperView` and reads back a :class:`StepperResult`. The
browser sends messages in two cases only: it reports the position 250 ms after the last move (one message for any
number of moves), and it asks for a fork when the user picks another next token.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from explorer.browser.registration import component
from explorer.browser.stepper_payload import StepperView, encode
from explorer.browser.stepper_state import StepperResult, reported, result_of
from explorer.decoding.coordinates import Place

_component = component("stepper", "stepper")
# Shows nothing, so it needs no styles of its own.
_carrier = component("decoding", "carrier")


def stepper(view: StepperView, *, key: str) -> StepperResult:
    """Draw the view and return the position in it.

    While `view.seq` stays the same, the position in `view` does not move the browser, so callers may pass the position
    that they were given last time. A new `view.seq` moves the browser there.

    Raises:
        ValueError: the trace does not fit together (see :func:`explorer.browser.stepper_payload.encode`).
    """
    memory = st.session_state.setdefault(f"_{key}_start", {})
    at = reported(st.session_state.get(key), view)
    if at is not None and memory.get("seq") == view.seq:
        # The user has moved since the start: send the same start again, so that the bytes do not change.
        start: Place = memory["place"]
    else:
        start = view.place()
        memory.update(seq=view.seq, place=start)
    started = dataclasses.replace(view, step=start.step, kind=start.kind, layer=start.layer, head=start.head)
    with st.container(gap=None):
        result = _component(
            key=key,
            data={"name": key},  # never anything else: all of the code would be sent along again
            on_at_change=_nothing,
            on_fork_change=_nothing,
            width="stretch",
            height="content",
        )
        _carrier(key=f"{key}-decoding", data=encode(started, name=key), height="content")
    return result_of(result, view, start)


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
