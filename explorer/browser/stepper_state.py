"""What the browser reports from the stepper, checked: a position, and the request for another continuation."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from explorer.browser.stepper_payload import StepperView
from explorer.decoding.coordinates import Place


@dataclass(frozen=True)
class Fork:
    """A request to continue with another token: row `step` (from 1) is to predict `token_id`."""

    step: int
    token_id: int


@dataclass(frozen=True)
class StepperResult:
    """The current position, and the fork that was requested in this run, if any."""

    place: Place
    fork: Fork | None


def result_of(state: Any, view: StepperView, start: Place) -> StepperResult:
    """What the browser has sent in this run, or the start if it has sent nothing about this decoding."""
    asked: Any = state.get("fork")
    if not _is_of(asked, view):
        return StepperResult(reported(state, view) or start, None)
    place = _place(asked, view)
    known = asked.get("token_id") in [int(i) for i in view.trace.top_ids[place.step - 1]]
    return StepperResult(place, Fork(place.step, asked["token_id"]) if known else None)


def _is_of(message: Any, view: StepperView) -> bool:
    """Whether there is a message, and whether it is about this decoding."""
    return bool(message) and message.get("seq") == view.seq


def reported(state: Any, view: StepperView) -> Place | None:
    """The position that the browser last reported for this decoding."""
    at = state.get("at") if state else None
    return _place(at, view) if _is_of(at, view) else None


def _place(message: Any, view: StepperView) -> Place:
    """A browser's message as a position that exists. Messages are not trusted: each value is checked."""
    whole = {name: message.get(name) for name in ("step", "layer", "head") if type(message.get(name)) is int}
    return dataclasses.replace(view, kind=str(message.get("kind")), **whole).place()
