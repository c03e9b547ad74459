"""The address bar: what other people ask for there, and what this session shows.

A browser sends its whole address with every request, and a request may have left before the browser heard of our last
change. What stands there is therefore a wish only if this session did not write it itself, now or a moment ago. Widgets
that Streamlit binds to a parameter (`bind="query-params"`) look after theirs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

# How long an address that we have replaced may still come back; slow machines and reconnecting browsers stay below.
STALE_SECONDS = 10.0


@dataclass(frozen=True)
class Parameters:
    """Parameters of the address that are read and written together."""

    names: tuple[str, ...]

    def asked(self) -> dict[str, str] | None:
        """What a link or a person asks for in these parameters; None if nothing, or only what this session wrote."""
        present = self._present()
        now = time.monotonic()
        history = self._history()
        own = [values for when, values in history if now - when < STALE_SECONDS]
        return None if not present or present == self.written() or present in own else present

    def write(self, values: Mapping[str, str]) -> None:
        """Make these parameters say `values`, and take the others of them out of the address."""
        history, now = self._history(), time.monotonic()
        history[:] = [entry for entry in history if now - entry[0] < STALE_SECONDS]
        history.append((now, dict(values)))
        present = self._present()
        # One by one: parameters that widgets are bound to stand there, too, and nobody else may write those.
        for name in present.keys() - values.keys():
            del st.query_params[name]
        if values.items() - present.items():
            st.query_params.update(dict(values))

    def written(self) -> dict[str, str]:
        """What this session wrote last."""
        history = self._history()
        return dict(history[-1][1]) if history else {}

    def _present(self) -> dict[str, str]:
        return {name: st.query_params[name] for name in self.names if name in st.query_params}

    def _history(self) -> list[tuple[float, dict[str, str]]]:
        """What this session wrote, and when, oldest first."""
        history: list[tuple[float, dict[str, str]]]
        history = st.session_state.setdefault(f"_address_{'_'.join(self.names)}", [])
        return history


@dataclass(frozen=True)
class Parameter:
    """A single parameter of the address."""

    name: str

    def asked(self) -> str | None:
        """What a link or a person asks for; None if nothing, or only what this session wrote."""
        asked = Parameters((self.name,)).asked()
        return None if asked is None else asked[self.name]

    def write(self, value: str) -> None:
        """Make the parameter say `value`; an empty value takes it out of the address."""
        Parameters((self.name,)).write({self.name: value} if value else {})
