"""The queue for model computations: at most two run at once in this process, across all models.

More would only take turns inside Python and all finish late. With a queue, the first has its answer while the last
still waits. Waiting threads are served in order, and a visitor who waits for more than a second is told.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.text import plural

PLACES = 2
PATIENCE_SECONDS = 0.5  # until a waiting visitor is told; Streamlit shows a spinner half a second later
Tell = Callable[[int], AbstractContextManager[None]]


class Queue:
    """A semaphore that serves in order: a freed place goes to the thread that has waited longest."""

    def __init__(self, places: int = PLACES) -> None:
        self._free = places
        self._waiting: deque[threading.Lock] = deque()
        self._guard = threading.Lock()

    def acquire(self, tell: Tell | None = None) -> None:
        """Wait for a place; after a while inside `tell(n)`, where n is the number of those who wait before it.

        What `tell` raises ends the waiting, as when the visitor has asked for something else.
        """
        with self._guard:
            if self._free and not self._waiting:
                self._free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=PATIENCE_SECONDS):  # `release` has handed its place over
            return
        try:
            with self._guard:
                ahead = self._waiting.index(turn) if turn in self._waiting else 0
            with tell(ahead) if tell else nullcontext():
                turn.acquire()
        except BaseException:
            self._leave(turn)
            raise

    def _leave(self, turn: threading.Lock) -> None:
        """Give up waiting, or the place that was handed over meanwhile."""
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        self.release()

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
def _told(ahead: int) -> Iterator[None]:
    """Say on the page that the visitor waits, and for how many; nothing in threads that draw no page."""
    if get_script_run_ctx(suppress_warning=True) is None:
        yield
        return
    others = f"{plural(ahead, 'computation')} of other visitors ahead of this one" if ahead else "this one is next"
    with st.spinner(f"Waiting in the queue: {others} …"):
        yield


@contextmanager
def place() -> Iterator[None]:
    """Wait for a place and hold it inside the `with` block.

    Raises:
        RuntimeError: this thread already holds a place. Two threads that each waited for a second place would wait
            forever.
    """
    if holds_place():
        raise RuntimeError("This thread already holds a place in the queue of model calls.")
    _queue.acquire(_told)
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
