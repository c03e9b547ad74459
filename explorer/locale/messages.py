"""The one function that every text of the interface passes through: an English message with named fields."""

from __future__ import annotations


def t(message: str, several: str | None = None, /, **fields: object) -> str:
    """The text of the interface that `message` stands for, with its `{named}` fields filled in.

    `message` is a whole English sentence or label, never a part that is glued to another: languages order their
    sentences differently. Where it counts something, `several` is the message for every number but 1 and the field `n`
    is the number: ``t("{n} word", "{n:,} words", n=3)``. A field may have a format (``{share:.0%}``).

    Both messages are literals where this is called, so that they can be collected for translators; a test holds that,
    and that the fields are the ones that the messages name. Raises KeyError for a field that is missing.
    """
    chosen = message if several is None or fields["n"] == 1 else several
    return chosen.format_map(fields)
