"""The exercises that the app can check: named, pure functions of where the reader is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.decoding.selection import Selection
from explorer.lessons.expressions import Term, TermError


@dataclass(frozen=True)
class ReaderState:
    """What an exercise is checked against: the reader's selection, the step's, and what they did elsewhere.

    `widgets` are the values of switches and tabs by key; `own` the summaries of models that did not come with the app;
    `edits` the number of head edits in force.
    """

    selection: Selection
    start: Selection
    widgets: Mapping[str, object] = field(default_factory=dict)
    own: tuple[Mapping[str, Any], ...] = ()
    edits: int = 0


def is_done(term: Term, state: ReaderState) -> bool:
    """Whether the reader has done the exercise."""
    return _EXERCISES[term.name][0](state, term.values)


def validate_exercise(term: Term) -> None:
    """Refuse an unknown exercise or unknown parameters.

    Raises:
        TermError: the message says what would be right.
    """
    if term.name not in _EXERCISES:
        raise TermError(f"there is no exercise '{term.name}'; the exercises are {', '.join(sorted(_EXERCISES))}")
    known = _EXERCISES[term.name][1]
    if unknown := [key for key in term.values if key not in known]:
        raise TermError(f"{term.name} has no parameter {unknown[0]}; it knows: {', '.join(known) or 'none'}")
    if known and not term.values and term.name != "trained":
        raise TermError(f"{term.name} needs one of {', '.join(known)}")


def is_exercise(term: Term) -> bool:
    """Whether this is the name of an exercise, and not of a check."""
    return term.name in _EXERCISES


def _at(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """The reader looks at this kind, layer, head, step or cell."""
    here = state.selection
    row, key = here.cell or (0, 0)
    values = {"kind": here.kind, "layer": here.layer, "head": here.head, "step": here.step, "row": row, "key": key}
    return all(str(values[name]) == value for name, value in wanted.items())


def _own_sentence(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """The reader typed a sentence of their own."""
    del wanted
    return bool(state.selection.text.strip()) and state.selection.text.strip() != state.start.text.strip()


def _other_path(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """The reader chose another word for the model to continue from."""
    del wanted
    return state.selection.path is not None and state.selection.path != state.start.path


def _edited(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """The reader edited a head."""
    del wanted
    return state.edits > 0


def _switched(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """A widget has this value."""
    widget, value = wanted.get("widget", ""), wanted.get("value", "")
    return str(state.widgets.get(widget)).casefold() == value.casefold()


def _trained(state: ReaderState, wanted: Mapping[str, str]) -> bool:
    """The reader trained a model, of this task and architecture where they are given."""
    task, architecture = wanted.get("task"), wanted.get("architecture")
    return any(
        bool(own.get("trained"))
        and task in (None, own.get("task"))
        and architecture in (None, own["model"].get("architecture", "transformer"))
        for own in state.own
    )


# Name in lesson files, function, and the parameters that it knows.
_EXERCISES: dict[str, tuple[Callable[[ReaderState, Mapping[str, str]], bool], tuple[str, ...]]] = {
    "at": (_at, ("kind", "layer", "head", "step", "row", "key")),
    "own_sentence": (_own_sentence, ()),
    "other_path": (_other_path, ()),
    "edited": (_edited, ()),
    "switched": (_switched, ("widget", "value")),
    "trained": (_trained, ("task", "architecture")),
}
