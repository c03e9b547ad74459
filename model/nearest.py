"""The names nearest to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from model.wording import Later, later

MOST_LISTED = 12
"""Names that a hint lists in full if none of them is close to the word."""


def nearest(word: str, known: Iterable[str]) -> Later:
    """A sentence on the `known` words closest to `word`; if none is close, on all of them, or of many the nearest."""
    known = sorted(known)
    if not known:
        return later("It may have been deleted.")
    if close := difflib.get_close_matches(word, known, n=1, cutoff=0.6) or _related(word, known):
        *first, last = [f"'{name}'" for name in close]
        names = later("{first} or {last}", first=", ".join(first), last=last) if first else last
        return later("Did you mean {names}?", names=names)
    if len(known) <= MOST_LISTED:
        return later("Known: {names}.", names=", ".join(known))
    similar = difflib.get_close_matches(word, known, n=3, cutoff=0.0)
    return later("The most similar of {n} are {names}.", n=len(known), names=", ".join(similar))


def _related(word: str, known: list[str]) -> list[str]:
    """Up to three names of which `word` is the initials (lr, learning_rate) or a part (heads, n_encoder_heads)."""
    parts = {name: name.split("_") for name in known}
    initials = {name: "".join(part[:1] for part in parts[name]) for name in known}
    return [name for name in known if word == initials[name] or word in parts[name]][:3]
