"""The exercises that the app can check: pure functions of the reader's state, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.decoding.selection import Selection
from explorer.lessons.checks.registry import Check, registered
from explorer.lessons.expressions import Term, TermError

EXERCISES: dict[str, Check[bool]] = {}
exercise = registered(EXERCISES)


@dataclass(frozen=True)
class ReaderState:
    """The state against which an exercise is checked: the selections of reader and step, and the reader's actions.

    `widgets` are the values of switches and tabs by key; `own` the summaries of models that are not shipped with the
    app; `edits` the number of head edits in force; `block` what is open in the machine ("" = nothing).
    """

    selection: Selection
    start: Selection
    widgets: Mapping[str, object] = field(default_factory=dict)
    own: tuple[Mapping[str, Any], ...] = ()
    edits: int = 0
    block: str = ""


def is_done(term: Term, state: ReaderState) -> bool:
    """Whether the reader has done the exercise."""
    check = EXERCISES[term.name]
    return check.function(state, **check.arguments(term))


def validate_exercise(term: Term) -> None:
    """Refuse an exercise with unknown or missing parameters.

    Raises:
        TermError: the message says what is expected.
    """
    kinds = EXERCISES[term.name].kinds
    EXERCISES[term.name].arguments(term)
    if kinds and not term.values and term.name != "trained":
        raise TermError("{name} needs one of {kinds}", name=term.name, kinds=", ".join(kinds))


def is_exercise(term: Term) -> bool:
    """Whether this is the name of an exercise rather than of a check."""
    return term.name in EXERCISES


@exercise
def at(
    state: ReaderState,
    kind: str = "",
    layer: str = "",
    head: str = "",
    step: str = "",
    row: str = "",
    key: str = "",
    block: str = "",
) -> bool:
    """The reader looks at this kind, layer, head, step or cell, or at this block of the machine or a part of it."""
    here = state.selection
    places = (here.kind, here.layer, here.head, here.step, *(here.cell or (0, 0)))
    wanted = (kind, layer, head, step, row, key)
    inside = not block or f"{state.block}.".startswith(f"{block}.")
    return inside and all(each in ("", str(place)) for each, place in zip(wanted, places, strict=True))


@exercise
def own_sentence(state: ReaderState) -> bool:
    """The reader typed their own sentence."""
    return bool(state.selection.text.strip()) and state.selection.text.strip() != state.start.text.strip()


@exercise
def other_path(state: ReaderState) -> bool:
    """The reader chose another word for the model to continue from."""
    return state.selection.path is not None and state.selection.path != state.start.path


@exercise
def edited(state: ReaderState) -> bool:
    """The reader edited a head."""
    return state.edits > 0


@exercise
def switched(state: ReaderState, widget: str = "", value: str = "") -> bool:
    """A widget has this value."""
    return str(state.widgets.get(widget)).casefold() == value.casefold()


@exercise
def trained(state: ReaderState, task: str = "", architecture: str = "") -> bool:
    """The reader trained a model, of this task and architecture if they are given."""
    return any(
        bool(own.get("trained"))
        and task in ("", own.get("task"))
        and architecture in ("", own["model"].get("architecture", "transformer"))
        for own in state.own
    )
