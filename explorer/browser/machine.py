"""The machine: the whole model as one live diagram, stepped, opened and explored in the browser.

A carrier brings the diagram of each decoding, and another one what is open. The browser reports its step, asks for what
is opened, and says which page a link leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from explorer.browser.carrier import carry
from explorer.browser.machine_details import check_opened
from explorer.browser.machine_payload import MachineView, Opened
from explorer.browser.registration import component
from explorer.browser.sync import settle

PLACES = ("attention", "cell", "positions", "masks", "translate", "ledger")
"""What a link of the machine may lead to."""

_component = component("machine", "machine")


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
    encoded: Callable[[], bytes],
    details: Callable[[Opened, int], bytes | None],
    *,
    stepped: Callable[[], None],
    key: str,
) -> MachineResult:
    """Draw the view, opened at its step and block, and return what the browser reports.

    `encoded` makes the message of the view and `details` that of what is open at a step, None if nothing is. `stepped`
    is called before a run in which the browser reports another place (see :func:`step_reported`).
    """
    settled = settle(key, view.seq, (view.step, view.opened), lambda place: _place(place, view))
    start_step, start_opened = settled.start
    with st.container(gap=None):
        carry(encoded(), key=f"{key}-decoding")
        result = _component(
            key=key,
            data={
                "seq": view.seq,
                "turn": settled.turn,
                "start": {"step": start_step, "opened": asdict(start_opened)},
            },
            on_at_change=stepped,
            on_go_change=_nothing,
            width="stretch",
            height="content",
        )
        step, opened = settled.now
        if (message := details(opened, step)) is not None:
            carry(message, key=f"{key}-details")
    return MachineResult(step, opened, _departure(result.get("go"), view))


def step_reported(key: str) -> int | None:
    """The step in the browser's last message, from 1, unchecked against any decoding; None if there is none."""
    state: Any = st.session_state.get(key)
    report = state.get("at") if state else None
    place = report.get("place") if report else None
    step = place.get("step") if isinstance(place, dict) else None
    return step if type(step) is int and step > 0 else None


def _place(place: Any, view: MachineView) -> tuple[int, Opened] | None:
    """A reported place as one that exists. Messages are not trusted."""
    if not isinstance(place, dict):
        return None
    return _whole(place.get("step"), len(view.trace.read_tokens)), check_opened(place, view.diagram.blocks, view.config)


def _departure(message: Any, view: MachineView) -> Departure | None:
    if not isinstance(message, dict) or message.get("seq") != view.seq or message.get("place") not in PLACES:
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
