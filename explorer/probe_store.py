"""What was measured, kept for all sessions of the server; one measurement runs at a time, the others wait for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

Result = TypeVar("Result")
Key = tuple[str, ...]
Report = Callable[[float, str], None]

MOST = 48  # results kept; most are small, a large model on 1,000 sentences takes some 50 MB
_WAIT = 0.2  # seconds between two looks at whether a stop is asked for


class Store:
    """Results by key, the ones used longest ago dropped first."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Any] = OrderedDict()
        self._guard = threading.Lock()
        self._at_work = threading.Lock()

    def known(self, key: Key) -> Any | None:
        """The result of this key, or None."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Key, result: Any) -> None:
        """Keep a result; the ones used longest ago go."""
        with self._guard:
            self._kept[key] = result
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def quick(self, key: Key, make: Callable[[], Result]) -> Result:
        """The result of this key, made now if it is not known: for work of a moment, which need not wait its turn."""
        found = self.known(key)
        if found is None:
            found = make()
            self.keep(key, found)
        return found

    def get(self, key: Key, make: Callable[[Report], Result], report: Report) -> Result:
        """The result of this key, made now if nobody has made it before.

        `report` is called while waiting and working; what it raises ends both, and nothing is kept.
        """
        found = self.known(key)
        if found is not None:
            return found
        while not self._at_work.acquire(timeout=_WAIT):
            report(0.0, "Waiting: the machine is measuring for somebody else")
        try:
            found = self.known(key)  # somebody else may have asked for the same
            if found is None:
                found = make(report)
                self.keep(key, found)
        finally:
            self._at_work.release()
        return found


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one store of this server."""
    return Store()
