"""Streamlit's insides are used in one module only, and what is used of them does what it is there for."""

import ast
import asyncio
import os
import platform
import urllib.request
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from explorer.web import streamlit_private
from tests import loop
from tests.benchmarks.load import megabytes
from tests.browser import Server, serve
from tests.paths import ROOT
from tests.trees import dotted, nodes
from tests.visitor import Visitor

HOME = "explorer/web/streamlit_private.py"
INSIDES = ("streamlit.runtime", "streamlit.web", "streamlit.proto", "streamlit.elements")


def private_names(path: Path) -> set[str]:
    """What a file imports from Streamlit's insides, and the attributes of `st` that begin with an underscore."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            full = {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            full = {dotted(node)}
        else:
            continue
        full = {f"streamlit.{name.removeprefix('st.')}" if name.startswith("st.") else name for name in full}
        names |= {name for name in full if name.startswith(INSIDES) or name.startswith("streamlit._")}
    return names


def test_streamlits_insides_are_used_in_one_module_only() -> None:
    sources = [
        ROOT / "app.py",
        *(path for room in ("explorer", "pages", "model") for path in (ROOT / room).rglob("*.py")),
    ]
    users = {path.relative_to(ROOT).as_posix() for path in sources if private_names(path)}
    assert users == {HOME}


@pytest.mark.parametrize("came_back", [False, True])
def test_a_session_whose_browser_has_left_for_good_is_ended(monkeypatch: pytest.MonkeyPatch, came_back: bool) -> None:
    closed: list[str] = []
    server = SimpleNamespace(is_active_session=lambda name: came_back, close_session=closed.append, state=None)
    monkeypatch.setattr(streamlit_private, "exists", lambda: True)
    monkeypatch.setattr(streamlit_private, "get_instance", lambda: server)
    monkeypatch.setattr(streamlit_private, "_BEFORE_EXPIRY", 1e9)

    async def leave() -> None:
        streamlit_private._left("gone")
        assert not closed, "a lost connection may come back"
        await asyncio.sleep(0.05)

    loop.run(leave())
    assert closed == ([] if came_back else ["gone"])
    assert callable(Runtime.is_active_session)
    assert callable(Runtime.close_session)


@pytest.mark.parametrize("wanted", [b"text/html,*/*", b"*/*"])
@pytest.mark.parametrize("mime", [b"text/html; charset=utf-8", b"text/css"])
def test_a_page_is_told_where_the_root_is(wanted: bytes, mime: bytes) -> None:
    sent: list[dict[str, Any]] = []

    async def app(scope: dict[str, Any], receive: object, send: Any) -> None:
        packed = b"accept-encoding" in dict(scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", mime)]})
        await send({"type": "http.response.body", "body": b"<html><he", "more_body": True})
        await send({"type": "http.response.body", "body": b"packed" if packed else b"ad></head>"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"accept", wanted), (b"accept-encoding", b"gzip")]}
    loop.run(streamlit_private.RootAddress(app)(scope, None, send))
    body, told = b"".join(message.get("body", b"") for message in sent), wanted != b"*/*" and b"html" in mime
    assert (b"BACKEND_BASE_URL" in body) == told
    assert dict(sent[0]["headers"]).get(b"content-length") == (str(len(body)).encode() if told else None)
    assert body.endswith(b"ad></head>" if wanted != b"*/*" and not told else b"</head>" if told else b"packed")


class Uploader(Visitor):
    session = ""

    def read(self, message: ForwardMsg) -> None:
        super().read(message)
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id or self.session

    def upload(self, content: bytes) -> None:
        url = f"http://localhost:{self.port}/_stcore"
        with urllib.request.urlopen(f"{url}/health") as answer:
            cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
        head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="large.npz"\r\n\r\n'
        headers = {"Content-Type": "multipart/form-data; boundary=edge", "Cookie": cookie}
        headers["X-Xsrftoken"] = cookie.partition("=")[2]
        address, body = f"{url}/upload_file/{self.session}/{uuid.uuid4()}", head + content + b"\r\n--edge--\r\n"
        urllib.request.urlopen(urllib.request.Request(address, body, headers, method="PUT")).close()


async def used(server: Server, contents: list[bytes]) -> tuple[float, float]:
    """Megabytes with a tab for each of these files, and after all tabs were closed and their sessions have expired."""
    visitors = [await Uploader.arrive(server.port, "model=reverse&text=abc") for _ in contents]
    for visitor, content in zip(visitors, contents, strict=True):
        await asyncio.to_thread(visitor.upload, content)
    full = megabytes(server)
    for visitor in visitors:
        await visitor.leave()
    await asyncio.sleep(6)
    return full, megabytes(server)


@pytest.mark.nightly
def test_uploads_of_sessions_that_have_ended_are_freed() -> None:
    size = 40_000_000
    with serve({"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "2"}) as server:
        _, before = loop.run(used(server, [b"x"]))
        full, after = loop.run(used(server, [os.urandom(size) for _ in range(2)]))
    assert full - before > 2 * size / 1e6
    assert after - before < 0.6 * (full - before)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries give memory back by themselves")
def test_freed_memory_goes_back_to_the_system() -> None:
    process, size = psutil.Process(), 100_000  # bytes, too few for memory of their own
    blocks = [b"x" * size for _ in range(1000)]
    last = b"x" * size  # above them all, so that the C library holds what lies below
    del blocks
    before = process.memory_info().rss
    streamlit_private.give_memory_back()
    assert before - process.memory_info().rss > 50 * size
    assert len(last) == size
