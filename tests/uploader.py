"""A visitor without a browser who uploads attention files, and the memory of the server meanwhile and afterwards."""

from __future__ import annotations

import asyncio
import io
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.load import megabytes
from tests.browser import Server
from tests.visitor import Connection, Trouble

FULL_SIZE = 570  # tokens of a file of nearly 20 MB
REST_SECONDS = 1.0


def upload_of(tokens: int) -> bytes:
    """Random weights of 4 × 4 heads."""
    content = io.BytesIO()
    weights = np.random.default_rng(0).random((4, 4, tokens, tokens))
    weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    np.savez_compressed(content, encoder=weights, src_tokens=np.array([f"t{i}" for i in range(tokens)]))
    return content.getvalue()


@dataclass
class Uploader(Connection):
    """A tab of the Attention page whose panel for own files is open."""

    session: str = ""
    uploader: str = ""
    fragment: str = ""
    drawn: set[str] = field(default_factory=set)

    @classmethod
    async def arrive(cls, port: int) -> Uploader:
        """Open the page."""
        visitor = await cls.to(port)
        await visitor._run(BackMsg())
        return visitor

    async def upload(self, content: bytes) -> None:
        """Choose a file and wait until its views are drawn."""
        number = str(uuid.uuid4())
        await asyncio.to_thread(_put, self.port, f"/_stcore/upload_file/{self.session}/{number}", content)
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        state = message.rerun_script.widget_states.widgets.add()
        state.id = self.uploader
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = number, "large.npz", len(content)
        info.file_urls.file_id = number
        self.drawn.clear()
        await self._run(message)
        if "own_heads" not in " ".join(self.drawn):
            raise Trouble(f"the uploaded file was not drawn; only {sorted(self.drawn)}")

    async def _run(self, message: BackMsg) -> None:
        message.rerun_script.query_string = "model=adjective-swap&text=I+read+red+books"
        message.rerun_script.page_name = "own"
        await self.ask(message)

    def read(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id or self.session

    def element(self, element: Any, fragment: str) -> None:
        what = element.WhichOneof("type")
        if what in ("exception", "alert"):
            raise Trouble(str(element))
        if what == "file_uploader":
            self.uploader, self.fragment = element.file_uploader.id, fragment
        if what == "bidi_component":
            self.drawn.add(element.bidi_component.id)


def _fetch(request: str | urllib.request.Request) -> bytes:
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def _put(port: int, path: str, content: bytes) -> None:
    url = f"http://localhost:{port}"
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=60) as answer:
        cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
    edge = "edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="large.npz"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={edge}",
        "Cookie": cookie,
        "X-Xsrftoken": cookie.partition("=")[2],
    }
    _fetch(urllib.request.Request(url + path, body, headers, method="PUT"))


async def uploads(server: Server, content: bytes, *, sessions: int, wait: float = REST_SECONDS) -> tuple[float, float]:
    """Megabytes with all sessions open, and after they were closed in turn."""
    visitors = []
    for _ in range(sessions):
        visitor = await Uploader.arrive(server.port)
        await visitor.upload(content)
        visitors.append(visitor)
    await asyncio.sleep(REST_SECONDS)
    full = megabytes(server)
    for visitor in visitors:
        await visitor.leave()
        await asyncio.sleep(0.05)
    await asyncio.sleep(wait)
    return full, megabytes(server)


async def warm_up(server: Server) -> None:
    """Upload something small."""
    visitor = await Uploader.arrive(server.port)
    await visitor.upload(upload_of(10))
    await visitor.leave()
