"""The parts of a lesson's file and their allowed values, from which the documentation is generated."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from explorer.lessons.lesson import PAGES, Control
from model.file_formats import SENTENCE

MAX_TEXT, MAX_CHOICES, MAX_RECAP = 4_000, 8, 6

Words = Annotated[str, Meta(max_length=MAX_TEXT, pattern=SENTENCE)]
Heading = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, pattern=SENTENCE)]
Number = Annotated[int, Meta(ge=1, le=9_999)]


class Front(Struct, forbid_unknown_fields=True):
    """The front matter of a lesson, with its names in TOML."""

    title: Heading
    about: Heading
    minutes: Number
    order: Number = 1000
    after: Words = ""
    age: Number | None = None
    model: Words | None = None
    text: Words | None = None
    language: Words = "en"
    recap: Annotated[list[Heading], Meta(max_length=MAX_RECAP)] = msgspec.field(default_factory=list)


_PAGE = Annotated[
    str,
    Meta(
        max_length=MAX_TEXT,
        pattern=SENTENCE,
        extra_json_schema={"description": f"one of the pages {', '.join(PAGES)}, with parameters as in a link"},
    ),
]


class StepParts(Struct, forbid_unknown_fields=True):
    """The parts of a step: its heading and text, its labels, and the choices below the question."""

    title: Heading
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
    claim: list[Words] = msgspec.field(default_factory=list, name="Claim")
    needs: list[Words] = msgspec.field(default_factory=list, name="Needs")
    controls: list[Control] = msgspec.field(default_factory=list, name="Controls")
    choices: Annotated[list[Words], Meta(min_length=2, max_length=MAX_CHOICES)] | None = None


LABELS = tuple(part.encode_name for part in msgspec.structs.fields(StepParts) if part.encode_name[0].isupper())
