"""The queue for model computations: at most two run at once in this process, across all models.

More would only take turns inside Python and all finish late. With a queue, the first has its answer while the last
still waits. Waiting threads are served in order, and a visitor who waits for more than a second is told.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import streamlit as st

from explorer.locale.text import plural
from explorer.runs.status import clock
from explorer.web.streamlit_private import in_page_run

PLACES = 2
PATIENCE_SECONDS = 0.5  # until a waiting visitor is told; Streamlit shows a spinner half a second later
REMEMBERED = 16  # computations, from whose duration a wait is estimated
Tell = Callable[[int, float], AbstractContextManager[None]]


class Queue:
    """A semaphore that serves in order: a freed place goes to the thread that has waited longest."""

    def __init__(self, places: int = PLACES) -> None:
        self._free = self._places = places
        self._waiting: deque[threading.Lock] = deque()
        self._took: deque[float] = deque(maxlen=REMEMBERED)
        self._guard = threading.Lock()

    def acquire(self, tell: Tell | None = None) -> None:
        """Wait for a place; after a while inside `tell(n, s)`: n wait before this thread, for some s seconds.

        s is estimated from the last computations, and 0 before there have been any. What `tell` raises ends the
        waiting, as when the visitor has asked for something else.
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
                each = sum(self._took) / len(self._took) if self._took else 0.0
            with tell(ahead, each * (ahead + 1) / self._places) if tell else nullcontext():
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

    def release(self, seconds: float | None = None) -> None:
        """Hand the place, held for so many seconds, to the thread that has waited longest; keep it if none waits."""
        with self._guard:
            if seconds is not None:
                self._took.append(seconds)
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
def _told(ahead: int, seconds: float) -> Iterator[None]:
    """Say on the page that the visitor waits, for how many and about how long; nothing in threads without a page."""
    if not in_page_run():
        yield
        return
    with st.spinner(waiting_sentence(ahead, seconds), show_time=True):
        yield


def waiting_sentence(ahead: int, seconds: float) -> str:
    """Say how many computations are ahead, and about how long they take; not how long if that is not known yet."""
    others = f"{plural(ahead, 'computation')} of other visitors ahead of this one" if ahead else "this one is next"
    about = f", about {clock(max(1.0, seconds))}" if seconds else ""
    return f"Waiting in the queue: {others}{about} …"


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
    _thread.holds, _thread.since = True, time.monotonic()
    try:
        yield
    finally:
        _give_back()


@contextmanager
def place_offered() -> Iterator[None]:
    """Release this thread's place for others inside the `with` block, and wait for a place again after it.

    Raises:
        RuntimeError: this thread holds no place.
    """
    if not holds_place():
        raise RuntimeError("This thread holds no place in the queue of model calls.")
    _give_back()
    try:
        yield
    finally:
        _queue.acquire()
        _thread.holds, _thread.since = True, time.monotonic()


def _give_back() -> None:
    _thread.holds = False
    _queue.release(time.monotonic() - _thread.since)
