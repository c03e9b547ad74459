"""The language in which texts are written now: that of the session whose page is drawn, English elsewhere.

Texts of the interface find it here, so that no function has to hand it on. Command lines never set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ENGLISH = "en"

_chosen: ContextVar[str] = ContextVar("language")
_ask: Callable[[], str] = lambda: ENGLISH  # noqa: E731


def current() -> str:
    """The code of the language in which texts are written in this thread, such as "de"."""
    return _chosen.get("") or _ask()


def choose(code: str) -> None:
    """Write the texts of this thread in a language from now on."""
    _chosen.set(code)


@contextmanager
def written_in(code: str) -> Iterator[None]:
    """Write the texts of a block in a language."""
    token = _chosen.set(code)
    try:
        yield
    finally:
        _chosen.reset(token)


def ask(source: Callable[[], str]) -> None:
    """Ask `source` for the language in every thread for which none was chosen: its session's, if it has one."""
    global _ask
    _ask = source
