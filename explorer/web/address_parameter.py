"""One parameter of the address that a page owns, beside those of the selection: read once, then kept up to date."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

# A request may have left the browser before it heard of our last change: then what it says is old news (session.py).
_STALE_SECONDS = 10.0


@dataclass(frozen=True)
class Parameter:
    """A parameter by its name; what the session wrote there is kept in the session."""

    name: str

    def asked(self) -> str | None:
        """What somebody else wrote there; None where nothing stands, or what this session wrote itself."""
        value = st.query_params.get(self.name)
        if value is None:
            return None
        now = time.monotonic()
        written = self._written()
        own = {text for when, text in written if now - when < _STALE_SECONDS} | {text for _, text in written[-1:]}
        return None if value in own else value

    def write(self, value: str) -> None:
        """Let it say this; nothing takes it out of the address."""
        written = self._written()
        now = time.monotonic()
        written[:] = [entry for entry in written if now - entry[0] < _STALE_SECONDS]
        written.append((now, value))
        if not value:
            if self.name in st.query_params:
                del st.query_params[self.name]
        elif st.query_params.get(self.name) != value:
            st.query_params[self.name] = value

    def _written(self) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = st.session_state.setdefault(f"_written_{self.name}", [])
        return found
