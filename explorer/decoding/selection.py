"""What is on screen, as a value and as URL parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, get_type_hints

from msgspec import Meta, Struct

from explorer.decoding.head_change import Changes, from_link, to_link
from explorer.decoding.view_options import MAX_VIEW, VIEW_PATTERN
from explorer.locale.messages import message, translated
from model.config import AttentionKind
from model.file_formats import fits

MAX_EDIT = 4000  # characters of the edits in a link
MAX_TEXT = 4000  # characters of a sentence in a link; servers and browsers refuse longer addresses

Whole = Annotated[str, Meta(pattern=r"\A[0-9]{1,6}\Z", description="a whole number of at most 6 digits")]
View = Annotated[
    str,
    Meta(
        pattern=VIEW_PATTERN,
        max_length=MAX_VIEW,
        description=f"small letters and digits with dots and hyphens between them, at most {MAX_VIEW} characters",
    ),
]


class LinkParameters(Struct):
    """The link parameters that say what is on screen, as text; each may be missing."""

    model: str = ""
    text: str = ""
    path: Annotated[
        str,
        Meta(
            pattern=r"\A[0-9]{1,7}(-[0-9]{1,7}){0,1999}\Z",
            description="at most 2,000 token ids with hyphens between them",
        ),
    ] = ""
    kind: AttentionKind = "cross"
    step: Whole = "0"
    layer: Whole = "0"
    head: Whole = "0"
    view: View = ""
    panel: View = ""
    cell: Annotated[
        str,
        Meta(pattern=r"\A[1-9][0-9]{0,5}-[0-9]{1,6}\Z", description="a row and a column with a hyphen between them"),
    ] = ""
    other: str = ""
    edit: Annotated[str, Meta(description="changes to heads, as *Copy link* writes them")] = ""


_TYPES = get_type_hints(LinkParameters, include_extras=True)


@dataclass(frozen=True)
class Selection:
    """What is on screen. Step, layer and head count from 1; head 0 is the mean over heads; 0 = not chosen yet.

    `path` is a chosen target as token ids; None = the model's own choice. `view` is how attention is shown, with its
    options ("lines.words.log"); empty = all heads at once. `panel` is the panel open below it, with its choices
    ("compare.way-edit"), and `other` a sentence or name that belongs to them. `cell` is the chosen (query, key); key 0
    = only a row is chosen. `edit` holds the changes to heads under which everything on screen is computed.
    """

    model: str = ""
    text: str = ""
    path: tuple[int, ...] | None = None
    step: int = 0
    kind: AttentionKind = "cross"
    layer: int = 0
    head: int = 0
    view: str = ""
    panel: str = ""
    cell: tuple[int, int] | None = None
    other: str = ""
    edit: Changes = ()


def to_query(selection: Selection) -> dict[str, str]:
    """Write a selection as URL parameters, without default values and without what is too long for a link."""
    default = Selection()
    query = {}
    for item in fields(selection):
        value = getattr(selection, item.name)
        if value == getattr(default, item.name):
            continue
        if item.name == "edit":
            query[item.name] = to_link(selection.edit)
            continue
        query[item.name] = "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if len(selection.text) > MAX_TEXT:
        del query["text"]
        query.pop("path", None)  # without its sentence, a path would be applied to another one
        query.pop("cell", None)
    if len(query.get("edit", "")) > MAX_EDIT:
        del query["edit"]
    if not selection.panel or len(selection.text) + len(selection.other) > MAX_TEXT:
        query.pop("other", None)
    return query


def from_query(query: Mapping[str, str]) -> tuple[Selection, list[str]]:
    """Read untrusted URL parameters.

    Returns the selection, with defaults for parameters that cannot be read, and a sentence about each of those.
    Parameters of other pages are ignored.
    """
    selection, problems = Selection(), []
    for name in ("model", "text", "other"):
        if name in query:
            selection = replace(selection, **{name: query[name]})  # type: ignore[arg-type]
    for name in (name for name in _COMPLAINTS if name in query):
        if not fits(query[name], _TYPES[name]):
            problems.append(translated(_COMPLAINTS[name]))
        else:
            selection = replace(selection, **{name: _VALUES.get(name, str)(query[name])})  # type: ignore[arg-type]
    if "edit" in query:
        changes, unfit = from_link(query["edit"])
        selection = replace(selection, edit=changes)
        problems += unfit
    return selection, problems


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("-"))


# How the text of a parameter becomes its value, and the message if it does not fit.
_VALUES: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("path", "cell"), _numbers),
    **dict.fromkeys(("step", "layer", "head"), int),
}
_COMPLAINTS = {
    "path": message("The link's path is not a list of token ids such as 5-9-2; the model's own choice is shown."),
    "kind": message("The link's kind is none of encoder, decoder, cross; cross-attention is shown."),
    "step": message("The link's step is not a whole number; the default is shown."),
    "layer": message("The link's layer is not a whole number; the default is shown."),
    "head": message("The link's head is not a whole number; the default is shown."),
    "view": message("The link's view is not one of this app's; the default is shown."),
    "panel": message("The link's panel is not one of this app's; the default is shown."),
    "cell": message("The link's cell is not a row and a column such as 3-5; none is chosen."),
}
