"""Write texts for people that pages show, too: English for command lines, a page's language where one is chosen.

A text is an English message with `{named}` fields. `explorer.locale.messages` says how it is written in other
languages; without it, it stays English. Callers pass messages as literals, so that they can be collected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

_SPEC = re.compile(r"[,.]?\d{0,3}[a-zX%]?")


def t(message: str, several: str | None = None, /, **fields: object) -> str:
    """Write a text in the language chosen, with its fields filled in.

    `message` is a whole English sentence or label, never a part to be joined with another, since languages order their
    sentences differently. If it counts something, `several` is the message for every number but 1, and the field `n`
    is the number: ``t("{n} word", "{n:,} words", n=3)``. A field may have a format (``{share:.0%}``), which is applied
    as the language writes numbers. Raises KeyError for a missing field.
    """
    return _write(message, several, fields)


@dataclass(frozen=True)
class Later:
    """A text that is written each time it is shown, in the language of whoever reads it then; see :func:`later`.

    Without fields (None), the braces of the message stay.
    """

    message: str
    several: str | None = None
    fields: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return _write(self.message, self.several, self.fields)


def later(message: str, several: str | None = None, /, **fields: object) -> Later:
    """A text for results that others read in their language, such as a field of an error or what a thread does now."""
    return Later(message, several, fields)


def to_data(text: Later) -> dict[str, Any]:
    """A text as values for JSON, so that another process can write it in its language (see :func:`from_data`)."""
    parts = {name: getattr(part, "text", part) for name, part in (text.fields or {}).items()}
    fields = {
        name: to_data(part) if isinstance(part, Later) else part if isinstance(part, int | float) else str(part)
        for name, part in parts.items()
    }
    return {"message": text.message, "several": text.several, "fields": None if text.fields is None else fields}


def from_data(values: Any) -> Later | None:
    """The text of :func:`to_data`; None for anything else, or if its fields could look into objects."""
    match values:
        case {"message": str(message), "several": None | str() as several, "fields": None | dict() as fields}:
            try:
                parts = (
                    [part for text in (message, several or "") for part in Formatter().parse(text)] if fields else []
                )
            except ValueError:
                return None
            if all(name is None or (name.isidentifier() and _SPEC.fullmatch(spec or "")) for _, name, spec, _ in parts):
                return Later(message, several, fields and {name: from_data(v) or v for name, v in fields.items()})
    return None


def message(text: str) -> str:
    """Mark an English text in data, such as a table of labels, for collectors; others write it."""
    return text


def form(message: str, several: str | None, fields: Mapping[str, Any] | None) -> str:
    """The English message for the number of what it counts."""
    return message if several is None or not fields or fields["n"] == 1 else several


def english(message: str, several: str | None, fields: Mapping[str, Any] | None) -> str:
    """Write a text in English."""
    chosen = form(message, several, fields)
    return chosen if fields is None else chosen.format_map(fields)


_write: Callable[[str, str | None, Mapping[str, Any] | None], str] = english


def write_with(write: Callable[[str, str | None, Mapping[str, Any] | None], str]) -> None:
    """Let `write` make every text from its message, its message for several, and its fields."""
    global _write
    _write = write
