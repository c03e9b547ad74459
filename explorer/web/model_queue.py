"""The queue for model computations: at most two run at once in this process, across all models.

More computations would only take turns inside Python, and all would finish late. With a queue, the first has its answer
while the last still waits. Waiting threads are served in order; a visitor who waits for a second sees a message.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import streamlit as st

from explorer.locale.messages import t
from explorer.web.streamlit_private import in_page_run

PLACES = 2
PATIENCE_SECONDS = 0.5  # before a waiting visitor sees a message: Streamlit shows a spinner half a second later
Announce = Callable[[int], AbstractContextManager[None]]


class Queue:
    """A semaphore that serves in order: a freed place goes to the thread that has waited longest."""

    def __init__(self, places: int = PLACES) -> None:
        self._free = places
        self._waiting: deque[object] = deque()  # a ticket for each thread, the first to be served first
        self._changed = threading.Condition()

    def acquire(self, announce: Announce | None = None) -> None:
        """Wait for a place; after a while, inside `announce(n)`, where n threads wait before this one.

        An exception of `announce` ends the waiting, as when the visitor has requested something else.
        """
        ticket = object()

        def is_next() -> bool:
            return self._free > 0 and self._waiting[0] is ticket

        with self._changed:
            self._waiting.append(ticket)
            try:
                if not self._changed.wait_for(is_next, PATIENCE_SECONDS):
                    with announce(self._waiting.index(ticket)) if announce else nullcontext():
                        self._changed.wait_for(is_next)
                self._free -= 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def release(self) -> None:
        """Give a place back."""
        with self._changed:
            self._free += 1
            self._changed.notify_all()


_queue = Queue()
_thread = threading.local()


def holds_place() -> bool:
    """Whether this thread may run a model now."""
    return getattr(_thread, "holds", False)


@contextmanager
def _waiting_message(ahead: int) -> Iterator[None]:
    """Show on the page how many computations go first; do nothing in threads without a page."""
    if not in_page_run():
        yield
        return
    with st.spinner(waiting_sentence(ahead), show_time=True):
        yield


def waiting_sentence(ahead: int) -> str:
    """The message that says how many computations are ahead of the visitor's own."""
    if not ahead:
        return t("Waiting in the queue: this one is next …")
    return t(
        "Waiting in the queue: {n} computation of other visitors ahead of this one …",
        "Waiting in the queue: {n} computations of other visitors ahead of this one …",
        n=ahead,
    )


@contextmanager
def place() -> Iterator[None]:
    """Wait for a place and hold it inside the `with` block.

    Raises:
        RuntimeError: this thread already holds a place. Two threads that each waited for a second place would wait
            forever.
    """
    if holds_place():
        raise RuntimeError("This thread already holds a place in the queue of model calls.")
    _queue.acquire(_waiting_message)
    _thread.holds = True
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
        _thread.holds = True


def _give_back() -> None:
    _thread.holds = False
    _queue.release()
