"""What is held of sessions that have ended is freed: state, uploads, files made for them, and results only they used.

A session without a browser waits two minutes for it to come back, as after a lost connection. Then Streamlit finds the
session no more, but lets go of it only when the next one ends, and never of what was uploaded in it.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Collection
from time import monotonic
from typing import Any

from streamlit.runtime import Runtime, exists, get_instance

from explorer import byte_cache

GRACE_SECONDS = 125.0  # Streamlit's two minutes, and a little more
NOBODY = "dontcare"  # Streamlit's name for the owner of files that the server itself holds (see `downloads`)
COLLECT_SECONDS = 600.0  # between two searches of all objects, each of which takes about half a second
TRIM_SECONDS = 1.0  # a class that leaves together is tidied up after once


class EndedSessions:
    """ASGI middleware: some time after each browser has left, free what belongs to nobody any more."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._due: set[str] = set()  # the names of what will be done soon
        self._collected = -COLLECT_SECONDS

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request or connection to Streamlit."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                asyncio.get_running_loop().call_later(GRACE_SECONDS, self._free)

    def _free(self) -> None:
        """Free what belongs to sessions that exist no more; soon afterwards, give the memory back to the system."""
        if exists() and free(get_instance()):
            self._once("collect", self._collected + COLLECT_SECONDS - monotonic())
            self._once("trim", TRIM_SECONDS)

    def _once(self, what: str, seconds: float) -> None:
        """Do something after so many seconds, unless it is already due; not in the loop, which serves everybody."""
        if what not in self._due:
            self._due.add(what)
            loop = asyncio.get_running_loop()
            loop.call_later(max(0.0, seconds), loop.run_in_executor, None, self._do, what)

    def _do(self, what: str) -> None:
        self._due.discard(what)
        if what == "collect":
            self._collected = monotonic()
            collect()
        trim()


def free(server: Runtime) -> int:
    """End the sessions that have waited in vain, and drop what is left of others; how many sessions there were."""
    stored: Any = server._session_mgr
    ended = [info.session for _, info in stored._session_storage._cache.expire()]
    for session in ended:
        session.shutdown()
    known = {info.session.id for info in server._session_mgr.list_sessions()}
    byte_cache.end_others(known)
    return len(ended) + free_files(server, known)


def free_files(server: Runtime, known: Collection[str]) -> int:
    """Drop the uploads and downloads of sessions other than the known; how many sessions there were."""
    uploads: Any = server.uploaded_file_mgr
    gone = uploads.file_storage.keys() - set(known)
    for session in gone:
        uploads.remove_session_files(session)
    files = server.media_file_mgr
    for session in [name for name in files._files_by_session_and_coord if name not in known and name != NOBODY]:
        files.clear_session_refs(session)
        gone = gone | {session}
    files.remove_orphaned_files()
    return len(gone)


def collect() -> None:
    """Search all objects for garbage: sessions refer to themselves, and late imports set them aside (see `freeze`)."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def trim() -> None:
    """Give freed memory back to the system, where the C library can (glibc).

    It returns a large block at once only until it has freed the first: from then on it holds blocks of up to that size
    for later. Of 36 uploads of 19 MB, 1.6 GB stayed with the server in this way.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
