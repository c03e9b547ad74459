"""The machine: the whole model as one live diagram, stepped, opened and explored in the browser.

Carriers bring the decoding, its machine, and the details of the open block. The browser reports its step, requests the
details of a block, and reports which page a clicked link leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import streamlit as st

from explorer.browser.carrier import carry, carry_decoding
from explorer.browser.machine_payload import MachineView
from explorer.browser.machine_structs import NumbersRequest, RowWeights
from explorer.browser.registration import as_data, component, from_browser, nothing
from explorer.browser.structs import Departure, MachineMount, MachinePlace
from explorer.browser.sync import settle

_component = component("machine", "machine")


@dataclass(frozen=True)
class MachineResult:
    """The step on screen and what is open; the link that was clicked or the weights that were changed in this run."""

    place: MachinePlace
    departure: Departure | None
    edit: RowWeights | None


def machine(
    view: MachineView,
    encoded: Callable[[], bytes],
    details: Callable[[MachinePlace], bytes | None],
    numbers: Callable[[NumbersRequest], bytes | None],
    *,
    stepped: Callable[[], None],
    key: str,
) -> MachineResult:
    """Draw the view, opened at its start, and return what the browser reports.

    `encoded` makes the message of the view, `details` the message of the block open at a place, or None, and `numbers`
    that of the numbers which the browser requests, or None. `stepped` is called before a run in which the browser
    reports another place (see :func:`place_reported`).
    """
    decoding = view.decoding
    settled = settle(key, decoding.seq, view.start, lambda place: _place(place, view))
    with st.container(gap=None):
        carry_decoding(decoding, key=f"{key}-decoding", kinds=())
        carry(encoded(), key=f"{key}-blocks")
        result = _component(
            key=key,
            data=as_data(MachineMount(decoding.seq, settled.turn, settled.start)),
            on_at_change=stepped,
            on_go_change=nothing,
            on_numbers_change=nothing,
            on_edit_change=nothing,
        )
        if (message := details(settled.now)) is not None:
            carry(message, key=f"{key}-details")
        request = from_browser(NumbersRequest, result.get("numbers"), decoding.seq)
        if request is not None and (message := numbers(request)) is not None:
            carry(message, key=f"{key}-numbers")
    edit = from_browser(RowWeights, result.get("edit"), decoding.seq)
    return MachineResult(settled.now, _departure(result.get("go"), view), edit)


def place_reported(key: str) -> MachinePlace | None:
    """The place in the browser's last message, unchecked against any decoding; None if there is none."""
    state: Any = st.session_state.get(key)
    report = state.get("at") if state else None
    place = from_browser(MachinePlace, report["place"] if report else None)
    return place if place and place.step > 0 else None


def _place(message: Any, view: MachineView) -> MachinePlace | None:
    """A reported place, clamped to places that exist."""
    place = from_browser(MachinePlace, message)
    return place and view.fitting(place)


def _departure(message: Any, view: MachineView) -> Departure | None:
    departure = from_browser(Departure, message, view.decoding.seq)
    if departure is None:
        return None
    at = view.fitting(MachinePlace(departure.block, departure.head, departure.part, departure.step))
    trace = view.decoding.trace
    longest = max(len(trace.read_tokens), len(trace.src_tokens))
    row, column = (max(1, min(longest, number)) for number in (departure.row, departure.column))
    return replace(departure, **asdict(at), row=row, column=column)
