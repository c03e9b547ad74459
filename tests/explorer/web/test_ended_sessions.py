"""What was uploaded in a session, or made for it, is freed once the session has ended for good."""

from __future__ import annotations

import asyncio
import gc
import platform
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_run_context import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from explorer import byte_cache
from explorer.byte_cache import ByteCache
from explorer.web import ended_sessions, runtime
from tests import loop


class Session:
    """A session that refers to itself, as Streamlit's do, and holds what was uploaded in it."""

    def __init__(self, name: str) -> None:
        self.id, self.itself, self.ended = name, self, False
        self.state = b"x" * 1000

    def shutdown(self) -> None:
        self.ended = True


def server_of(*known: str, stored: MemorySessionStorage | None = None) -> Any:
    """A server with these sessions, and files of the sessions `here` and `gone`."""
    uploads, files = MemoryUploadedFileManager("/upload"), MediaFileManager(MemoryMediaFileStorage("/media"))
    for session in ("here", "gone"):
        uploads.add_file(session, UploadedFileRec("file", "a.npz", "", b"x" * 1000))
        file = files._storage.load_and_get_id(session.encode(), "text/csv", None)  # type: ignore[arg-type]
        files._files_by_session_and_coord[session]["place"] = file
    files.add(b"held by the server", "text/csv", "headlight.download.1", "a.csv", is_for_static_download=True)
    manager = SimpleNamespace(
        list_sessions=lambda: [SimpleNamespace(session=SimpleNamespace(id=name)) for name in known],
        _session_storage=stored or MemorySessionStorage(),
    )
    return SimpleNamespace(_session_mgr=manager, uploaded_file_mgr=uploads, media_file_mgr=files)


def test_only_what_belongs_to_nobody_is_freed() -> None:
    server = server_of("here", "new")
    results = ByteCache(100)
    for session in ("here", "gone"):
        results.hold((session,), 1, 10, session)
    assert ended_sessions.free(server) == 1
    assert set(server.uploaded_file_mgr.file_storage) == {"here"}
    assert set(server.media_file_mgr._files_by_session_and_coord) == {"here", ended_sessions.NOBODY}
    assert (results.bytes_of("here"), results.bytes_of("gone")) == (10, 0)
    assert ended_sessions.free(server) == 0


def test_a_session_that_waited_in_vain_is_ended_though_no_other_ends_after_it() -> None:
    """Streamlit itself lets go of it when the next one is stored."""
    stored = MemorySessionStorage(ttl_seconds=0)
    session = Session("gone")
    stored.save(SimpleNamespace(session=session))  # type: ignore[arg-type]
    server = server_of("here", stored=stored)
    assert ended_sessions.free(server) == 2  # the session, and the files of the same
    assert session.ended
    assert not server.uploaded_file_mgr.file_storage.keys() - {"here"}
    held = weakref.ref(session)
    gc.freeze()  # as after a late import
    del session
    ended_sessions.collect()
    assert held() is None


def test_a_session_that_may_come_back_is_held() -> None:
    stored = MemorySessionStorage(ttl_seconds=60)
    stored.save(SimpleNamespace(session=Session("here")))  # type: ignore[arg-type]
    ended_sessions.free(server_of("here", stored=stored))
    assert [info.session.ended for info in stored.list()] == [False]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries give memory back by themselves")
def test_freed_memory_goes_back_to_the_system() -> None:
    process, size = psutil.Process(), 100_000  # bytes, too few for memory of their own
    blocks = [b"x" * size for _ in range(1000)]
    last = b"x" * size  # above them all, so that the C library holds what lies below
    del blocks
    before = process.memory_info().rss
    ended_sessions.trim()
    assert before - process.memory_info().rss > 50 * size
    assert len(last) == size


def test_a_class_that_leaves_together_is_tidied_up_after_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(ended_sessions, "GRACE_SECONDS", 0.01)
    monkeypatch.setattr(ended_sessions, "TRIM_SECONDS", 0.02)
    monkeypatch.setattr(ended_sessions, "exists", lambda: True)
    monkeypatch.setattr(ended_sessions, "get_instance", lambda: None)
    monkeypatch.setattr(ended_sessions, "free", lambda server: done.append("free") or 1)
    monkeypatch.setattr(ended_sessions, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(ended_sessions, "trim", lambda: done.append("trim"))

    async def app(scope: dict[str, Any], receive: object, send: object) -> None:
        if scope["type"] == "websocket":
            raise ConnectionResetError  # however the connection ends

    async def until(what: list[str]) -> None:
        async with asyncio.timeout(10):
            while sorted(done) != sorted(what):
                await asyncio.sleep(0.005)

    async def visit() -> None:
        middleware = ended_sessions.EndedSessions(app)
        await middleware({"type": "http"}, None, None)
        assert not middleware._due
        assert not done
        for _ in range(3):
            with pytest.raises(ConnectionResetError):
                await middleware({"type": "websocket"}, None, None)
        assert not done
        await until(["free"] * 3 + ["collect", "trim", "trim"])
        with pytest.raises(ConnectionResetError):
            await middleware({"type": "websocket"}, None, None)
        await until(["free"] * 4 + ["collect"] + ["trim"] * 3)
        assert middleware._due == {"collect"}  # it has to wait, and is not forgotten

    loop.run(visit())


def test_what_a_page_run_makes_counts_for_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    assert byte_cache.asking() == byte_cache.SERVER
    monkeypatch.setattr(
        threading.current_thread(), SCRIPT_RUN_CONTEXT_ATTR_NAME, SimpleNamespace(session_id="pupil"), raising=False
    )
    assert runtime.byte_cache.asking() == "pupil"
    with byte_cache.working_for("teacher"):
        assert byte_cache.asking() == "teacher"
