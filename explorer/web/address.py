"""The address bar: what a link or the user requests there, and what this session has written.

A browser sends its full address with every request, and a request may have left before the browser received our last
change. The parameters therefore count as a request only if this session did not write them itself, now or a moment
ago, or if the person went back or forward to them in the browser's history, which the browser reports.
Widgets that Streamlit binds to a parameter (`bind="query-params"`) manage their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st

# A replaced address may still come back for this long; slow machines and reconnecting browsers need less.
STALE_SECONDS = 10.0
_MOVED = "_address_moved"


@contextmanager
def page_run(*, moved: bool) -> Iterator[None]:
    """Run a whole page; `moved`: the person went back or forward to this address."""
    st.session_state[_MOVED] = moved
    try:
        yield
    finally:
        st.session_state[_MOVED] = False  # what follows are fragments of this page, at the address that it wrote


@dataclass(frozen=True)
class Written:
    """The values that this session wrote somewhere, under `key` in the session: when one comes back, it is no request.

    The last value counts as the session's own for ever, an earlier one for `stale_seconds` after it was written.
    """

    key: str
    stale_seconds: float = 0.0

    def add(self, value: Any) -> None:
        """Remember that the session writes `value` now."""
        history, now = self._history(), time.monotonic()
        history[:] = [entry for entry in history if now - entry[0] < self.stale_seconds]
        history.append((now, value))

    def last(self) -> Any:
        """The value written last; None if there is none."""
        history = self._history()
        return history[-1][1] if history else None

    def is_news(self, value: Any) -> bool:
        """Whether `value` comes from elsewhere: from a link, the user, or another part of the page."""
        history, now = self._history(), time.monotonic()
        recent = [written for when, written in history if now - when < self.stale_seconds]
        return not history or (value != history[-1][1] and value not in recent)

    def _history(self) -> list[tuple[float, Any]]:
        """What was written and when, oldest first."""
        history: list[tuple[float, Any]] = st.session_state.setdefault(self.key, [])
        return history


@dataclass(frozen=True)
class Parameters:
    """Address parameters that are read and written together."""

    names: tuple[str, ...]

    def asked(self) -> dict[str, str] | None:
        """The values that a link or the user requests; None if there are none, or only what this session wrote."""
        present = self.present()
        if not present:
            return None
        news = present != self._own.last() if st.session_state.get(_MOVED) else self._own.is_news(present)
        return present if news else None

    def write(self, values: Mapping[str, str]) -> None:
        """Set the parameters in `values`, and remove the others of this group from the address."""
        self._own.add(dict(values))
        present = self.present()
        gone = present.keys() - values.keys()
        # In one go, because each change is an entry in the browser's history. Not all parameters: those that are bound
        # to widgets only these may write. An empty list removes a parameter.
        if gone or values.items() - present.items():
            st.query_params.update({**values, **{name: [] for name in gone}})

    def written(self) -> dict[str, str]:
        """The values that this session wrote last."""
        return dict(self._own.last() or {})

    def present(self) -> dict[str, str]:
        """The values in the address as the browser sent it, whoever wrote them."""
        return {name: st.query_params[name] for name in self.names if st.query_params.get_all(name)}

    @property
    def _own(self) -> Written:
        return Written(f"_address_{'_'.join(self.names)}", STALE_SECONDS)


@dataclass(frozen=True)
class Parameter:
    """A single address parameter."""

    name: str

    def asked(self) -> str | None:
        """The value that a link or the user requests; None if there is none, or only what this session wrote."""
        return (Parameters((self.name,)).asked() or {}).get(self.name)

    def write(self, value: str) -> None:
        """Set the parameter to `value`; an empty value removes it from the address."""
        Parameters((self.name,)).write({self.name: value} if value else {})

    def written(self) -> str:
        """The value that this session wrote last; empty if it wrote none."""
        return Parameters((self.name,)).written().get(self.name, "")

    def present(self) -> str:
        """The value in the address as the browser sent it, whoever wrote it; empty if there is none."""
        return Parameters((self.name,)).present().get(self.name, "")
