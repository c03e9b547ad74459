"""The stepper: a whole decoding in the browser, stepped, played and explored without asking the server.

The page mounts it once with a :class:`StepperView` and reads back a :class:`StepperResult`. The browser speaks up in
two cases only: 250 ms after the person's last move it reports the position (one message, however many moves), and when
the person picks another next token it asks for a fork.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.components.payload import StepperView, encode
from explorer.components.script import slim
from explorer.figures.palette import palettes

_HERE = Path(__file__).parent
_JS = _HERE / "js"
_SCRIPTS = ("trace.js", "colours.js", "heatmap.js", "tokens.js", "words.js", "panels.js", "stepper.js")


@dataclass(frozen=True)
class Fork:
    """A wish to decode on from another token: row `step` (from 1) is to predict `token_id`."""

    step: int
    token_id: int


@dataclass(frozen=True)
class StepperResult:
    """Where the person is looking now, and the fork that they asked for in this very run, if any."""

    place: Place
    fork: Fork | None


def script() -> str:
    """The component's JavaScript module: the palettes and the files in one text, without comments and spare spaces.

    Streamlit sends the text again whenever the data changes, so it is kept small.
    """
    return f"const PALETTES={json.dumps(palettes(), separators=(',', ':'))};\n{slim(_JS, _SCRIPTS)}\n"


def markup() -> str:
    """The component's static HTML."""
    return (_HERE / "html" / "stepper.html").read_text(encoding="utf-8")


def style() -> str:
    """The component's style sheet."""
    return re.sub(r"\n\s+", "\n", (_HERE / "css" / "stepper.css").read_text(encoding="utf-8"))


_component = st.components.v2.component("headlight_stepper", html=markup(), css=style(), js=script())


def stepper(view: StepperView, *, key: str) -> StepperResult:
    """Draw the view and return where the person is.

    While `view.seq` stays the same, the position inside `view` is not pushed onto the person: callers may pass the
    position that they got back last time without disturbing anything. A new `view.seq` moves the browser there.

    Raises:
        ValueError: the trace does not fit together (see :func:`explorer.components.payload.encode`).
    """
    memory = st.session_state.setdefault(f"_{key}_start", {})
    reported = _reported(st.session_state.get(key), view)
    if reported is not None and memory.get("seq") == view.seq:
        # The person has moved since the start: send the same start again, so that the bytes do not change.
        start: Place = memory["place"]
    else:
        start = view.place()
        memory.update(seq=view.seq, place=start)
    started = dataclasses.replace(view, step=start.step, kind=start.kind, layer=start.layer, head=start.head)
    result = _component(
        key=key, data=encode(started), on_at_change=_nothing, on_fork_change=_nothing, width="stretch", height="content"
    )
    asked: Any = result.get("fork")
    if not _is_of(asked, view):
        return StepperResult(_reported(result, view) or start, None)
    place = _place(asked, view)
    known = asked.get("token_id") in [int(i) for i in view.trace.top_ids[place.step - 1]]
    return StepperResult(place, Fork(place.step, asked["token_id"]) if known else None)


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""


def _is_of(message: Any, view: StepperView) -> bool:
    return bool(message) and message.get("seq") == view.seq


def _reported(state: Any, view: StepperView) -> Place | None:
    """The position that the browser last reported for this very decoding."""
    at = state.get("at") if state else None
    return _place(at, view) if _is_of(at, view) else None


def _place(message: Any, view: StepperView) -> Place:
    """A browser's message as a place that exists: what a browser says may be anything."""
    whole = {name: message.get(name) for name in ("step", "layer", "head") if type(message.get(name)) is int}
    return dataclasses.replace(view, kind=str(message.get("kind")), **whole).place()
