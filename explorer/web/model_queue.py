"""The queue for model computations: at most two run at once in this process, across all models.

More would only take turns inside Python and all finish late. With a queue, the first has its answer while the last
still waits. Waiting threads are served in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

PLACES = 2


class Queue:
    """A semaphore that serves in order: a freed place goes to the thread that has waited longest."""

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
        """Hand the place to the thread that has waited longest, or return it if none is waiting."""
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
    """Wait for a place and hold it inside the `with` block.

    Raises:
        RuntimeError: this thread already holds a place. Two threads that each waited for a second place would wait
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
    """Release this thread's place for others inside the `with` block, and wait for a place again after it.

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
