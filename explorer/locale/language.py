"""The language in which texts are written now: that of the session whose page is drawn, English elsewhere.

Texts of the interface find it here, so that no function has to hand it on. Command lines never set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

ENGLISH = "en"

Params = ParamSpec("Params")
Result = TypeVar("Result")

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


def cached_by_language(entries: int) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Cache the results of a function that writes texts, as ``lru_cache`` does, for each language on its own."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        @lru_cache(entries)
        def in_language(code: str, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
            return function(*args, **kwargs)

        @wraps(function)
        def wrapper(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            return in_language(current(), *args, **kwargs)  # type: ignore[arg-type]  # they must be hashable

        return wrapper

    return decorate
