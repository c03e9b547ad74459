"""How long work says how far it is, to whoever draws the progress bar."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[float, str], None]
"""Told the share that is done, 0 to 1, and what is being done."""


def unheard(done: float, words: str) -> None:
    """A report that nobody hears."""
    del done, words
