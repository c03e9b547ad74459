"""English plurals, for the texts of commands and, through `explorer.locale.text`, of pages."""

from __future__ import annotations


def plural(number: int, noun: str, many: str | None = None) -> str:
    """A number with its noun: "1 decoder layer", "0 queries", "1,505 sentences".

    `many` is an irregular plural: plural(2, "hypothesis", "hypotheses").
    """
    return f"{number:,} {noun if number == 1 else many or _plural_of(noun)}"


def _plural_of(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"
