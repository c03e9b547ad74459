"""The address bar: what a link or the user requests there, and what this session has written.

A browser sends its full address with every request, and a request may have left before the browser received our last
change. The parameters therefore count as a request only if this session did not write them itself, now or a moment
ago. Widgets that Streamlit binds to a parameter (`bind="query-params"`) manage their own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

# A replaced address may still come back for this long; slow machines and reconnecting browsers need less.
STALE_SECONDS = 10.0


@dataclass(frozen=True)
class Parameters:
    """Address parameters that are read and written together."""

    names: tuple[str, ...]

    def asked(self) -> dict[str, str] | None:
        """The values that a link or the user requests; None if there are none, or only what this session wrote."""
        present = self._present()
        now = time.monotonic()
        history = self._history()
        own = [values for when, values in history if now - when < STALE_SECONDS]
        return None if not present or present == self.written() or present in own else present

    def write(self, values: Mapping[str, str]) -> None:
        """Set the parameters in `values`, and remove the others of this group from the address."""
        history, now = self._history(), time.monotonic()
        history[:] = [entry for entry in history if now - entry[0] < STALE_SECONDS]
        history.append((now, dict(values)))
        present = self._present()
        # One by one: the address also holds parameters bound to widgets, which only those widgets may write.
        for name in present.keys() - values.keys():
            del st.query_params[name]
        if values.items() - present.items():
            st.query_params.update(dict(values))

    def written(self) -> dict[str, str]:
        """The values that this session wrote last."""
        history = self._history()
        return dict(history[-1][1]) if history else {}

    def _present(self) -> dict[str, str]:
        return {name: st.query_params[name] for name in self.names if name in st.query_params}

    def _history(self) -> list[tuple[float, dict[str, str]]]:
        """What this session wrote and when, oldest first."""
        history: list[tuple[float, dict[str, str]]]
        history = st.session_state.setdefault(f"_address_{'_'.join(self.names)}", [])
        return history


@dataclass(frozen=True)
class Parameter:
    """A single address parameter."""

    name: str

    def asked(self) -> str | None:
        """The value that a link or the user requests; None if there is none, or only what this session wrote."""
        asked = Parameters((self.name,)).asked()
        return None if asked is None else asked[self.name]

    def write(self, value: str) -> None:
        """Set the parameter to `value`; an empty value removes it from the address."""
        Parameters((self.name,)).write({self.name: value} if value else {})
