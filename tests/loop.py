"""Running a coroutine in a test: Playwright's browser keeps an event loop of its own in the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Value = TypeVar("Value")


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """What `work` comes to, on a loop of its own in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
