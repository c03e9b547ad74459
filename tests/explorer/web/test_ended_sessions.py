"""What was uploaded in a session, or made for it, is freed once the session has ended for good."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from explorer.web import ended_sessions
from tests import loop


def server_of(*known: str) -> Any:
    """A server with these sessions, and files of the sessions `here` and `gone`."""
    uploads, files = MemoryUploadedFileManager("/upload"), MediaFileManager(MemoryMediaFileStorage("/media"))
    for session in ("here", "gone"):
        uploads.add_file(session, UploadedFileRec("file", "a.npz", "", b"x" * 1000))
        file = files._storage.load_and_get_id(session.encode(), "text/csv", None)  # type: ignore[arg-type]
        files._files_by_session_and_coord[session]["place"] = file
    files.add(b"held by the server", "text/csv", "headlight.download.1", "a.csv", is_for_static_download=True)
    manager = SimpleNamespace(
        list_sessions=lambda: [SimpleNamespace(session=SimpleNamespace(id=name)) for name in known]
    )
    return SimpleNamespace(_session_mgr=manager, uploaded_file_mgr=uploads, media_file_mgr=files)


def test_only_what_belongs_to_nobody_is_freed() -> None:
    server = server_of("here", "new")
    assert ended_sessions.free_files(server) == 1
    assert set(server.uploaded_file_mgr.file_storage) == {"here"}
    assert set(server.media_file_mgr._files_by_session_and_coord) == {"here", ended_sessions.NOBODY}
    assert ended_sessions.free_files(server) == 0


def test_it_happens_some_time_after_a_browser_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_sessions, "GRACE_SECONDS", 0.01)
    freed: list[str] = []
    monkeypatch.setattr(ended_sessions, "free", lambda: freed.append("now"))

    async def app(scope: dict[str, Any], receive: object, send: object) -> None:
        if scope["type"] == "websocket":
            raise ConnectionResetError  # however the connection ends

    async def visit() -> None:
        import asyncio

        middleware = ended_sessions.EndedSessions(app)
        await middleware({"type": "http"}, None, None)
        await asyncio.sleep(0.03)
        assert not freed
        with pytest.raises(ConnectionResetError):
            await middleware({"type": "websocket"}, None, None)
        assert not freed
        await asyncio.sleep(0.03)

    loop.run(visit())
    assert freed == ["now"]
