"""The machine: the whole model as one live diagram, stepped, opened and explored in the browser.

As with the stepper (stepper.py), the component that draws is sent once per browser tab, a carrier brings each
decoding, and another one what is open. The browser reports its step, asks for what is opened, and says which page a
link leads to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.browser.machine_details import check_opened
from explorer.browser.machine_payload import MachineView, Opened
from explorer.browser.registration import component

PLACES = ("attention", "cell", "positions", "masks", "translate", "ledger")
"""What a link of the machine may lead to."""

_component = component("machine", "machine")
_carrier = component("machine_data", "carrier")


@dataclass(frozen=True)
class Departure:
    """A link that was clicked: where it leads, and from which block, head and token; rows count from 1."""

    place: str
    opened: Opened
    step: int
    row: int
    column: int


@dataclass(frozen=True)
class MachineResult:
    """The step on screen, what is open, and the link that was clicked in this run, if any."""

    step: int
    opened: Opened
    departure: Departure | None


def machine(
    view: MachineView,
    encoded: Callable[[MachineView], bytes],
    details: Callable[[Opened, int, str], bytes | None],
    *,
    stepped: Callable[[], None],
    key: str,
) -> MachineResult:
    """Draw the view and return what the browser reports.

    `encoded` makes the block of a view and `details` that of what is open at a step of the decoding with this name,
    None if nothing is. A step and block that differ from those returned last time move the browser there: for it, that
    is another decoding. Without any report the browser draws anew, on the first run and after a switch of pages.
    `stepped` is called before a run in which the browser reports another step (see :func:`step_reported`).
    """
    memory = st.session_state.setdefault(f"_{key}_start", {"turn": 0})
    state = st.session_state.get(key)
    if memory.get("seq") != view.seq or state is None or _is_led(view, memory, state):
        turn = memory["turn"] + (state is not None)
        memory.update(seq=view.seq, start=(view.step, view.opened), turn=turn)
    start_step, start_opened = memory["start"]
    view = _named(view, memory)
    step, opened = _step(state, view), _opened(state, view)
    started = dataclasses.replace(view, step=start_step, opened=start_opened)
    with st.container(gap=None):
        result = _component(
            key=key,
            data={"name": key},  # never anything else: all of the code would be sent along again
            on_at_change=stepped,
            on_open_change=_nothing,
            on_go_change=_nothing,
            width="stretch",
            height="content",
        )
        _carrier(key=f"{key}-decoding", data=encoded(started), height="content")
        now = MachineResult(
            step if step is not None else start_step,
            opened if opened is not None else start_opened,
            _departure(result.get("go"), view),
        )
        memory["returned"] = now.step, now.opened
        block = details(now.opened, now.step, view.seq)
        if block is not None:
            _carrier(key=f"{key}-details", data=block, height="content")
    return now


def step_reported(key: str) -> int | None:
    """The step in the browser's last message, from 1, unchecked against any decoding; None if there is none."""
    state: Any = st.session_state.get(key)
    at = state.get("at") if state else None
    step = at.get("step") if at else None
    return step if type(step) is int and step > 0 else None


def _named(view: MachineView, memory: dict[str, Any]) -> MachineView:
    """The view under the name that its messages bear: each turn of the server's has one of its own."""
    return dataclasses.replace(view, seq=f"{view.seq}.{memory['turn']}")


def _is_led(view: MachineView, memory: dict[str, Any], state: Any) -> bool:
    """Whether the page wants another step or block than was returned to it and than the browser reports now."""
    named = _named(view, memory)
    step, opened = memory["returned"]
    return view.step not in (step, _step(state, named)) or view.opened not in (opened, _opened(state, named))


def _is_of(message: Any, view: MachineView) -> bool:
    """Whether there is a message, and whether it is about this decoding."""
    return bool(message) and message.get("seq") == view.seq


def _step(state: Any, view: MachineView) -> int | None:
    """The step that the browser last reported for this decoding. Messages are not trusted."""
    at: Any = state.get("at") if state else None
    return _whole(at.get("step"), len(view.trace.read_tokens)) if _is_of(at, view) else None


def _opened(state: Any, view: MachineView) -> Opened | None:
    """What the browser last opened in this decoding; None if it has opened and closed nothing."""
    message: Any = state.get("open") if state else None
    return check_opened(message, view.diagram.blocks, view.config) if _is_of(message, view) else None


def _departure(message: Any, view: MachineView) -> Departure | None:
    if not _is_of(message, view) or message.get("place") not in PLACES:
        return None
    longest = max(len(view.trace.read_tokens), len(view.trace.src_tokens))
    return Departure(
        message["place"],
        check_opened(message, view.diagram.blocks, view.config),
        _whole(message.get("step"), len(view.trace.read_tokens)),
        _whole(message.get("row"), longest),
        _whole(message.get("column"), longest),
    )


def _whole(value: Any, most: int) -> int:
    """A whole number from 1 to `most`."""
    return max(1, min(most, value)) if type(value) is int else 1


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
