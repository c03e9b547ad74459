"""Decide whether the page, which requests a place, or the browser, which reports its view's place, moved last.

Each decoding starts a new turn, and so does each new request of the page. The view goes to the place that comes with a
new turn, and a report names the turn in which it was made; reports of earlier turns are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

T = TypeVar("T")


@dataclass(frozen=True)
class Settled(Generic[T]):
    """The place where the view starts, the turn of that start, and the place where the view is now."""

    start: T
    turn: int
    now: T


def settle(key: str, seq: str, wanted: T, read: Callable[[Any], T | None]) -> Settled[T]:
    """Decide where the view with this key is.

    `wanted` is the place that the page requests. Most pages pass in the place that was returned last time or that is
    reported now, and some always pass the same one: neither is a request to move. `read` checks a report's `place`,
    which is not trusted.
    """
    memory = st.session_state.setdefault(f"_{key}_turn", {"turn": 0})
    state = st.session_state.get(key)
    now = reported(state, seq, memory["turn"], read)
    if memory.get("seq") != seq:
        led, memory["following"] = True, False
    else:
        follows = wanted in (memory["returned"], now)
        memory["following"] |= follows and wanted != memory["wanted"]
        # After a visit to another page, the browser has lost its place.
        lost = follows and now is None and wanted != memory["start"]
        led = lost or not (follows or (wanted == memory["wanted"] and not memory["following"]))
    if led:
        memory.update(seq=seq, wanted=wanted, start=wanted, turn=memory["turn"] + 1)
        now = None
    memory["returned"] = memory["start"] if now is None else now
    return Settled(memory["start"], memory["turn"], memory["returned"])


def reported(state: Any, seq: str, turn: int, read: Callable[[Any], T | None]) -> T | None:
    """The place in the browser's last report about this decoding in this turn; None if there is none."""
    report = state.get("at") if state else None
    if not isinstance(report, dict) or report.get("seq") != seq or report.get("turn") != turn:
        return None
    return read(report.get("place"))
