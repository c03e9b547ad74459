"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable


def until(true: Callable[[], object], seconds: float = 60.0) -> float:
    """Wait until it is true; returns the seconds that it took."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() - begun < seconds, "it did not happen"
        time.sleep(0.01)
    return time.monotonic() - begun
