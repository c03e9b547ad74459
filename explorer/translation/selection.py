"""What is on screen, as a value and as URL parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from explorer.translation.head_change import Changes, from_link, to_link
from model.config import ATTENTION_KINDS, AttentionKind

MAX_EDIT = 4000  # characters of the edits in a link
MAX_TEXT = 4000  # characters of a sentence in a link; servers and browsers refuse longer addresses

_PATH = re.compile(r"\d{1,7}(-\d{1,7})*")
_MAX_PATH = 2000
_CELL = re.compile(r"[1-9][0-9]{0,5}-[0-9]{1,6}")
_VIEW = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_MAX_VIEW = 120


@dataclass(frozen=True)
class Selection:
    """What the pages show. Step, layer and head count from 1; head 0 is the mean over heads; 0 = not chosen yet.

    `path` is a chosen target as token ids; None = the model's own choice. `view` is how attention is shown,
    with its options ("lines.words.log"), empty for all heads at once; `panel` what is open below it, with its choices
    ("compare.way-edit"), and `other` a sentence or name that goes with those; `cell` the chosen (query, key), key 0
    where only the row is chosen. `edit` are the changes to heads under which everything on screen is computed.
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
    """The selection as URL parameters, without default values and without what is too long for a link."""
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
    """Read URL parameters; they are not trusted.

    Returns the selection, with defaults for parameters that cannot be read, and a sentence about each of those.
    Parameters of other pages are ignored.
    """
    selection, problems = Selection(), []
    for name in ("model", "text", "other"):
        if name in query:
            selection = replace(selection, **{name: query[name]})  # type: ignore[arg-type]
    if "path" in query:
        path = query["path"]
        if _PATH.fullmatch(path) and path.count("-") < _MAX_PATH:
            selection = replace(selection, path=tuple(int(part) for part in path.split("-")))
        else:
            problems.append(
                "The link's path is not a list of token ids such as 5-9-2; the model's own choice is shown."
            )
    if "kind" in query:
        if query["kind"] in ATTENTION_KINDS:
            selection = replace(selection, kind=query["kind"])
        else:
            problems.append("The link's kind is none of encoder, decoder, cross; cross-attention is shown.")
    for name in ("step", "layer", "head"):
        if name in query:
            number = query[name]
            if number.isascii() and number.isdecimal() and len(number) < 7:
                selection = replace(selection, **{name: int(number)})  # type: ignore[arg-type]
            else:
                problems.append(f"The link's {name} is not a whole number; the default is shown.")
    for name in ("view", "panel"):
        if name in query:
            if is_view(query[name]):
                selection = replace(selection, **{name: query[name]})  # type: ignore[arg-type]
            else:
                problems.append(f"The link's {name} is not one of this app; the default is shown.")
    if "cell" in query:
        if _CELL.fullmatch(query["cell"]):
            row, column = query["cell"].split("-")
            selection = replace(selection, cell=(int(row), int(column)))
        else:
            problems.append("The link's cell is not a row and a column such as 3-5; none is chosen.")
    if "edit" in query:
        changes, unfit = from_link(query["edit"])
        selection = replace(selection, edit=changes)
        problems += unfit
    return selection, problems


def is_view(text: object) -> bool:
    """Whether this can be the text of a view with its options in the address."""
    return isinstance(text, str) and len(text) <= _MAX_VIEW and _VIEW.fullmatch(text) is not None
