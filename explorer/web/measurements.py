"""Measurement results, shared by all sessions of the server, and the threads that compute them.

Streamlit restarts the script on every click. Work that ran in the script would then be lost; here, a click, another
tab or a reload finds it still in progress. One measurement runs at a time. Work that a session is waiting for takes
precedence over work that no session watches any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st

from explorer.decoding.cache import ByteCache, size_of
from explorer.locale.messages import Later, later
from explorer.probing.reporting import Report

Result = TypeVar("Result")
Key = tuple[str, ...]

LIMIT = 200_000_000  # bytes of all results; a large model on 1,000 sentences takes some 50 MB
PATIENCE = 300.0  # seconds for which unwatched work runs or waits
_UNWATCHED = 2.0  # seconds after the last look, from which work counts as unwatched
_WAIT = 0.1  # seconds between two checks


class _Abandoned(Exception):
    """No session has asked for this work for too long."""


class Job:
    """One piece of work: its progress, whether a session watches it, and how it ended.

    `done` (from 0 to 1) and `words` describe the progress; `error` is the exception that ended the work early, if any.
    """

    def __init__(self, turn: threading.Lock, wanted: Callable[[Job], bool]) -> None:
        self.done = 0.0
        self.words: str | Later = ""
        self.error: Exception | None = None
        self.waiting = False
        self._turn, self._wanted = turn, wanted
        self._stopped = False
        self._looked = time.monotonic()
        self._ended = threading.Event()

    @property
    def watched(self) -> bool:
        """Whether a session is watching."""
        return not self._stopped and time.monotonic() - self._looked < _UNWATCHED

    def look(self, seconds: float) -> bool:
        """Wait for the end for at most `seconds` and return whether it came; stopped work continues."""
        self._looked, self._stopped = time.monotonic(), False
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Pause the work until a session looks again."""
        self._stopped = True

    def run(self, work: Callable[[Report], None]) -> None:
        """Do the work in this thread, once its turn has come."""
        try:
            self._take_turn()
            try:
                with suppress(_Abandoned):  # no session is left to notify
                    work(self._report)
            finally:
                self._turn.release()
        except Exception as error:  # of any kind: `Store.get` raises it in the watching session
            self.error = error
        finally:
            self._ended.set()

    def _report(self, done: float, words: str | Later) -> None:
        """Record the progress between two parts of the work, and wait here if other work goes first."""
        self.done, self.words = done, words
        self._check()
        if not self._makes_way():
            return
        self._turn.release()
        try:
            while self._makes_way():
                time.sleep(_WAIT)
                self._check()
        finally:
            self._take_turn()

    def _makes_way(self) -> bool:
        return self._stopped or (not self.watched and self._wanted(self))

    def _take_turn(self) -> None:
        self.waiting = True
        while not self._turn.acquire(timeout=_WAIT):
            pass
        self.waiting = False

    def _check(self) -> None:
        if time.monotonic() - self._looked > PATIENCE:
            raise _Abandoned


class Store:
    """Results by key, limited in bytes, and the work on results that are not there yet."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._results = ByteCache(limit)
        self._jobs: dict[Key, Job] = {}
        self._guard = threading.Lock()
        self._turn = threading.Lock()

    def find(self, key: Key) -> Any | None:
        """The result for this key, or None."""
        return self._results.find(key)

    def keep(self, key: Key, result: Any) -> None:
        """Store a result."""
        size = min(size_of((key, result)), self._results.limit)  # a larger one is held alone: it took long to measure
        self._results.hold(key, result, size)

    def quick(self, key: Key, make: Callable[[], Result]) -> Result:
        """The result for this key, computed now if it is missing: for brief work, which need not wait its turn."""
        result = self.find(key)
        if result is None:
            result = make()
            self.keep(key, result)
        return result

    def get(self, key: Key, make: Callable[[Report], Result], report: Report) -> Result:
        """The result for this key, computed in a separate thread if it is missing.

        `report` is called while waiting. An exception that it raises ends the waiting but not the work; the next call
        for the key finds the work further along. Raises what `make` raises.
        """
        while (stored := self.find(key)) is None:
            job = self._begin(key, make)
            while not job.look(_WAIT):
                report(
                    job.done, later("Waiting: the machine is measuring something else") if job.waiting else job.words
                )
            if job.error is not None:
                raise job.error
        result: Result = stored
        return result

    def stop(self, key: Key) -> None:
        """Pause the work on this key, unless another session watches it."""
        with self._guard:
            job = self._jobs.get(key)
        if job is not None:
            job.stop()

    def _begin(self, key: Key, make: Callable[[Report], Result]) -> Job:
        """The work on this key: already under way, or started now."""

        def work(report: Report) -> None:
            self.keep(key, make(report))

        def live() -> None:
            try:
                job.run(work)
            finally:
                with self._guard:
                    self._jobs.pop(key, None)

        with self._guard:
            if (running := self._jobs.get(key)) is not None:
                return running
            job = self._jobs[key] = Job(self._turn, self._is_wanted)
        threading.Thread(target=live, name=f"measure {key[0]}", daemon=True).start()
        return job

    def _is_wanted(self, job: Job) -> bool:
        """Whether a session is waiting for other work than this job."""
        with self._guard:
            return any(other.waiting and other.watched for other in self._jobs.values() if other is not job)


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The single store of this server."""
    return Store()
