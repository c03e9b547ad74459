"""What a lesson's file may hold, part by part, from which its documentation is made, and what is said of a misfit."""

from __future__ import annotations

from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta, Struct

from explorer.lessons.lesson import CONTROLS, PAGES, Control
from model.file_formats import SENTENCE, fits

MAX_TEXT, MAX_CHOICES, MAX_RECAP = 4_000, 8, 6
RECAP = f"recap holds at most {MAX_RECAP} sentences, each in quotation marks"
_REORDERED = "control characters, or marks that reorder text; remove them"

Words = Annotated[str, Meta(max_length=MAX_TEXT, pattern=SENTENCE)]
Number = Annotated[int, Meta(ge=1, le=9_999)]


class Front(Struct, forbid_unknown_fields=True):
    """The front matter of a lesson, as its TOML names the parts."""

    title: Words
    about: Words
    minutes: Number
    order: Number = 1000
    model: Words | None = None
    text: Words | None = None
    language: Words = "en"
    recap: Annotated[list[Words], Meta(max_length=MAX_RECAP)] = msgspec.field(default_factory=list)


_PAGE = Annotated[
    str,
    Meta(
        max_length=MAX_TEXT,
        pattern=rf"\A/?({'|'.join(PAGES)})(\?[^\s]*)?\Z",
        extra_json_schema={"description": f"one of the pages {', '.join(PAGES)}, with parameters as in a link"},
    ),
]


class StepParts(Struct, forbid_unknown_fields=True):
    """The parts of a step: its heading and text, its labels, and the choices below the question."""

    title: Words
    text: Words = ""
    open: _PAGE | None = msgspec.field(default=None, name="Open")
    then_open: _PAGE | None = msgspec.field(default=None, name="Then open")
    do: Words | None = msgspec.field(default=None, name="Do")
    done: Words | None = msgspec.field(default=None, name="Done")
    ask: Words | None = msgspec.field(default=None, name="Ask")
    check: Words | None = msgspec.field(default=None, name="Check")
    within: Annotated[float, Meta(ge=0, le=10**6)] | None = msgspec.field(default=None, name="Within")
    right: Words | None = msgspec.field(default=None, name="Right")
    wrong: Words | None = msgspec.field(default=None, name="Wrong")
    claim: list[Words] | None = msgspec.field(default=None, name="Claim")
    needs: list[Words] | None = msgspec.field(default=None, name="Needs")
    controls: list[Control] | None = msgspec.field(default=None, name="Controls")
    choices: Annotated[list[Words], Meta(min_length=2, max_length=MAX_CHOICES)] | None = None


FRONT = get_type_hints(Front, include_extras=True)
PARTS = dict(
    zip(
        (item.encode_name for item in msgspec.structs.fields(StepParts)),
        get_type_hints(StepParts, include_extras=True).values(),
        strict=True,
    )
)
LABELS = tuple(name for name in PARTS if name[0].isupper())
NEEDED = tuple(item.name for item in msgspec.structs.fields(Front) if item.required)


def misfit_in_front(key: str, value: Any) -> str:
    """What is wrong with the value of a key of the front matter; empty if it fits."""
    if fits(value, FRONT[key]):
        return ""
    if key == "recap":
        return RECAP if isinstance(value, list) else "recap must be a list of sentences in brackets"
    if FRONT[key] is Number:
        return f"{key} must be " + ("between 1 and 9,999" if type(value) is int else "a whole number")
    if not isinstance(value, str):
        return f"{key} must be text in quotation marks"
    return f"{key} has at most {MAX_TEXT:,} characters" if len(value) > MAX_TEXT else f"{key} has {_REORDERED}"


def misfit(part: str, value: Any) -> str:
    """What is wrong with a part of a step; empty if it fits."""
    if fits(value, PARTS[part]):
        return ""
    if part in ("Open", "Then open"):
        page = value.removeprefix("/").partition("?")[0]
        if page not in PAGES:
            return f"there is no page '{page}'; the pages are {', '.join(PAGES)}"
        return "the parameters after the question mark are written without spaces, as in a link"
    if part == "Within":
        return f"Within is a number from 0 to a million, not {value:g}"
    if part == "Controls":
        unknown = next(name for name in value if name not in CONTROLS)
        return f"there is no control '{unknown}'; they are {', '.join(CONTROLS)}"
    if part == "choices" and not 2 <= len(value) <= MAX_CHOICES:
        return f"a question has 2 to {MAX_CHOICES} choices, or none for a typed answer"
    longest = max(map(len, value if isinstance(value, list) else [value]))
    if longest > MAX_TEXT:
        return f"a text has at most {MAX_TEXT:,} characters, this one {longest:,}"
    return f"there are {_REORDERED}"
