"""What a lesson may ask the reader to do, told by where they are afterwards: named, pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.lessons.expressions import Term, TermError
from explorer.translation.selection import Selection


@dataclass(frozen=True)
class Here:
    """Where the reader is: the place on screen, the place where the step began, and what they did elsewhere.

    `widgets` are values of switches and tabs by key; `own` the summaries of models that did not come with the app;
    `edits` how many changes to heads are in force.
    """

    place: Selection
    start: Selection
    widgets: Mapping[str, object] = field(default_factory=dict)
    own: tuple[Mapping[str, Any], ...] = ()
    edits: int = 0


def done(term: Term, here: Here) -> bool:
    """Whether the reader has done it."""
    return _DEEDS[term.name][0](here, term.values)


def validate_deed(term: Term) -> None:
    """Refuse a deed that nobody knows.

    Raises:
        TermError: the message says what would be right.
    """
    if term.name not in _DEEDS:
        raise TermError(f"there is no deed '{term.name}'; the deeds are {', '.join(sorted(_DEEDS))}")
    known = _DEEDS[term.name][1]
    if unknown := [key for key in term.values if key not in known]:
        raise TermError(f"{term.name} has no parameter {unknown[0]}; it knows: {', '.join(known) or 'none'}")
    if known and not term.values and term.name != "trained":
        raise TermError(f"{term.name} needs one of {', '.join(known)}")


def is_deed(term: Term) -> bool:
    """Whether this is the name of a deed, and not of a check."""
    return term.name in _DEEDS


def _at(here: Here, wanted: Mapping[str, str]) -> bool:
    place = here.place
    row, key = place.cell or (0, 0)
    found = {"kind": place.kind, "layer": place.layer, "head": place.head, "step": place.step, "row": row, "key": key}
    return all(str(found[name]) == value for name, value in wanted.items())


def _own_sentence(here: Here, wanted: Mapping[str, str]) -> bool:
    del wanted
    return bool(here.place.text.strip()) and here.place.text.strip() != here.start.text.strip()


def _other_path(here: Here, wanted: Mapping[str, str]) -> bool:
    del wanted
    return here.place.path is not None and here.place.path != here.start.path


def _edited(here: Here, wanted: Mapping[str, str]) -> bool:
    del wanted
    return here.edits > 0


def _switched(here: Here, wanted: Mapping[str, str]) -> bool:
    return all(str(here.widgets.get(name)).casefold() == value.casefold() for name, value in _pairs(wanted))


def _pairs(wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(wanted.get("widget", ""), wanted.get("value", ""))]


def _trained(here: Here, wanted: Mapping[str, str]) -> bool:
    task, architecture = wanted.get("task"), wanted.get("architecture")
    return any(
        bool(own.get("trained"))
        and task in (None, own.get("task"))
        and architecture in (None, own["model"].get("architecture", "transformer"))
        for own in here.own
    )


_DEEDS: dict[str, tuple[Callable[[Here, Mapping[str, str]], bool], tuple[str, ...]]] = {
    "at": (_at, ("kind", "layer", "head", "step", "row", "key")),
    "own_sentence": (_own_sentence, ()),
    "other_path": (_other_path, ()),
    "edited": (_edited, ()),
    "switched": (_switched, ("widget", "value")),
    "trained": (_trained, ("task", "architecture")),
}
