"""The names nearest to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_LISTED = 12
"""Names that a hint lists in full if none of them is close to the word."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the `known` words closest to `word`; if none is close, all of them, or of many the nearest."""
    known = sorted(known)
    if not known:
        return "."
    if close := close_to(word, known):
        quoted = [f"'{name}'" for name in close]
        return f"; did you mean {' or '.join(quoted)}?"
    if len(known) <= MOST_LISTED:
        return f"; known: {', '.join(known)}."
    return f"; the most similar of {len(known)} are {', '.join(similar_to(word, known))}."


def close_to(word: str, known: list[str]) -> list[str]:
    """The name of `known` that `word` probably means, or those that it may abbreviate; none if none is close."""
    return difflib.get_close_matches(word, known, n=1, cutoff=0.6) or _related(word, known)


def similar_to(word: str, known: list[str]) -> list[str]:
    """The three names most similar to `word`."""
    return difflib.get_close_matches(word, known, n=3, cutoff=0.0)


def _related(word: str, known: list[str]) -> list[str]:
    """Up to three names of which `word` is the initials (lr, learning_rate) or a part (heads, n_encoder_heads)."""
    parts = {name: name.split("_") for name in known}
    initials = {name: "".join(part[:1] for part in parts[name]) for name in known}
    return [name for name in known if word == initials[name] or word in parts[name]][:3]
