"""The queue before the models: at most two model computations run at once in this process, whichever model.

More would only take turns inside Python and all end late, where a queue lets the first have its answer while the last
still waits. Whoever waits is served in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

PLACES = 2


class Queue:
    """A semaphore that serves in order: a place that becomes free goes to whoever has waited longest."""

    def __init__(self, places: int = PLACES) -> None:
        self._free = places
        self._waiting: deque[threading.Lock] = deque()
        self._guard = threading.Lock()

    def acquire(self) -> None:
        """Wait for a place."""
        with self._guard:
            if self._free and not self._waiting:
                self._free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()  # until `release` hands its place over

    def release(self) -> None:
        """Give the place to whoever has waited longest, or back."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


_queue = Queue()
_thread = threading.local()


def holds_place() -> bool:
    """Whether this thread may run a model now."""
    return getattr(_thread, "holds", False)


@contextmanager
def place() -> Iterator[None]:
    """Wait for one of the places and hold it inside the `with` block.

    Raises:
        RuntimeError: this thread holds a place already. Two threads that each waited for a second one would wait
            forever.
    """
    if holds_place():
        raise RuntimeError("This thread already holds a place in the queue of model calls.")
    _queue.acquire()
    _thread.holds = True
    try:
        yield
    finally:
        _thread.holds = False
        _queue.release()


@contextmanager
def place_offered() -> Iterator[None]:
    """Inside the `with` block, the place that this thread holds is free for others; after it, the thread has one again.

    Raises:
        RuntimeError: this thread holds no place.
    """
    if not holds_place():
        raise RuntimeError("This thread holds no place in the queue of model calls.")
    _thread.holds = False
    _queue.release()
    try:
        yield
    finally:
        _queue.acquire()
        _thread.holds = True
