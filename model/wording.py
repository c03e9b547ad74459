"""Write texts for people that pages show, too: English for command lines, a page's language where one is chosen.

`explorer.locale.messages` says how texts are written in other languages; without it they stay English.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def t(message: str, several: str | None = None, /, **fields: object) -> str:
    """Write a text with its `{named}` fields filled in; `several` is the message for every number `n` but 1.

    Callers pass both messages as literals, so that they can be collected for translators.
    """
    return _write(message, several, fields)


def english(message: str, several: str | None, fields: dict[str, Any]) -> str:
    """Write a text in English."""
    chosen = message if several is None or fields["n"] == 1 else several
    return chosen.format_map(fields)


_write: Callable[[str, str | None, dict[str, Any]], str] = english


def write_with(write: Callable[[str, str | None, dict[str, Any]], str]) -> None:
    """Let `write` make every text from its message, its message for several, and its fields."""
    global _write
    _write = write
