"""What Streamlit holds of sessions that have ended is freed: their uploads, and the files made for them.

A session without a browser waits two minutes for it to come back, as after a lost connection. Then Streamlit forgets
the session, but not what was uploaded in it.
"""

from __future__ import annotations

import asyncio
import gc
from time import monotonic
from typing import Any

from streamlit.runtime import Runtime, exists, get_instance

GRACE_SECONDS = 125.0  # Streamlit's two minutes, and a little more
NOBODY = "dontcare"  # Streamlit's name for the owner of files that the server itself holds (see `downloads`)
_COLLECT_SECONDS = 600.0  # between two searches of all objects, each of which takes about half a second
_collected = 0.0


class EndedSessions:
    """ASGI middleware: some time after each browser has left, free what belongs to nobody any more."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request or connection to Streamlit."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                asyncio.get_running_loop().call_later(GRACE_SECONDS, free)


def free() -> None:
    """Free what belongs to sessions that exist no more."""
    global _collected
    if not exists():
        return
    freed = free_files(get_instance())
    if freed and monotonic() - _collected > _COLLECT_SECONDS:
        # Sessions refer to themselves, and were set aside with everything else when a late import was (see `freeze`).
        _collected = monotonic()
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def free_files(server: Runtime) -> int:
    """Drop the uploads and downloads of sessions that exist no more; how many sessions there were."""
    known = {info.session.id for info in server._session_mgr.list_sessions()}
    uploads: Any = server.uploaded_file_mgr
    gone = uploads.file_storage.keys() - known
    for session in gone:
        uploads.remove_session_files(session)
    files = server.media_file_mgr
    for session in [name for name in files._files_by_session_and_coord if name not in known and name != NOBODY]:
        files.clear_session_refs(session)
        gone = gone | {session}
    files.remove_orphaned_files()
    return len(gone)
