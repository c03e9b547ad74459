"""The function `t`, through which every text of the interface passes: an English message with named fields."""

from __future__ import annotations


def t(message: str, several: str | None = None, /, **fields: object) -> str:
    """Fill the `{named}` fields of an interface text; later also translate it.

    `message` is a whole English sentence or label, never a part to be joined with another, since languages order their
    sentences differently. If it counts something, `several` is the message for every number but 1, and the field `n`
    is the number: ``t("{n} word", "{n:,} words", n=3)``. A field may have a format (``{share:.0%}``).

    Callers pass both messages as literals, so that they can be collected for translators; a test ensures that, and that
    the fields are those in the messages. Raises KeyError for a missing field.
    """
    chosen = message if several is None or fields["n"] == 1 else several
    return chosen.format_map(fields)
