"""Run a coroutine in a test: Playwright already runs an event loop in the main thread."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Value = TypeVar("Value")


def run(work: Coroutine[Any, Any, Value]) -> Value:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
