"""Memory that the server gives back: after 36 sessions with the largest upload, and after 1,000 large downloads."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
import uuid
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from explorer.web.runtime import CHECKPOINTS
from tests.benchmarks.load import megabytes
from tests.benchmarks.registry import Row, benchmark
from tests.browser import Server, serve

SESSIONS, DOWNLOADS = 36, int(os.environ.get("HEADLIGHT_DOWNLOADS", "1000"))
LIMIT_MB = 300.0
LARGEST, LARGE = 1000, 250  # tokens: 4 layers of 4 heads, 64 MB and 4 MB of weights
FULL_SIZE, WAIT_SECONDS = 570, 130.0  # tokens of a file of nearly 20 MB; what Streamlit takes to forget a session
REST_SECONDS = 1.0


def upload_of(tokens: int, *, constant: bool = True) -> bytes:
    """Weights of 4 × 4 heads; deflate shrinks constant ones to next to nothing."""
    content = io.BytesIO()
    weights = np.ones((4, 4, tokens, tokens)) if constant else np.random.default_rng(0).random((4, 4, tokens, tokens))
    arrays: Mapping[str, Any] = {
        "encoder": (weights / weights.sum(-1, keepdims=True)).astype(np.float32),
        "src_tokens": np.array([f"t{i}" for i in range(tokens)]),
    }
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(f"{name}.npy", member.getvalue())
    return content.getvalue()


@dataclass
class Uploader:
    """A tab of the Attention page whose panel for own files is open."""

    port: int
    socket: ClientConnection
    session: str = ""
    uploader: str = ""
    fragment: str = ""
    downloads: dict[str, str] = field(default_factory=dict)  # a button's label → its deferred file
    drawn: set[str] = field(default_factory=set)

    @classmethod
    async def arrive(cls, port: int) -> Uploader:
        """Open the page."""
        socket = await connect(f"ws://localhost:{port}/_stcore/stream", max_size=None, subprotocols=["streamlit"])  # type: ignore[list-item]
        visitor = cls(port, socket)
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
            raise AssertionError(f"the uploaded file was not drawn; only {sorted(self.drawn)}")

    async def download(self, label: str) -> int:
        """Press a download button and fetch its file; its size in bytes."""
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id, request.session_id = str(uuid.uuid4()), self.session
        request.deferred_file.file_id = self.downloads[label]
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self.socket.recv())
            if answer.WhichOneof("type") == "backend_operation_response":
                url = answer.backend_operation_response.deferred_file.url
                return await asyncio.to_thread(_get, self.port, url)

    async def _run(self, message: BackMsg) -> None:
        message.rerun_script.query_string = "model=adjective-swap&text=I+read+red+books&panel=own"
        message.rerun_script.page_name = "attention"
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await asyncio.wait_for(self.socket.recv(), 60))
            what = answer.WhichOneof("type")
            if what == "new_session":
                self.session = answer.new_session.initialize.session_id or self.session
            elif what == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._element(answer)
            elif what == "script_finished":
                return

    def _element(self, answer: ForwardMsg) -> None:
        element = answer.delta.new_element
        what = element.WhichOneof("type")
        if what in ("exception", "alert"):
            raise AssertionError(str(element))
        if what == "file_uploader":
            self.uploader, self.fragment = element.file_uploader.id, answer.delta.fragment_id
        if what == "bidi_component":
            self.drawn.add(element.bidi_component.id)
        if what == "download_button":
            self.downloads[element.download_button.label] = element.download_button.deferred_file_id


def _put(port: int, path: str, content: bytes) -> None:
    connection = http.client.HTTPConnection("localhost", port, timeout=60)
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
    edge = "edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="large.npz"\r\n\r\n'
    connection.request(
        "PUT",
        path,
        head.encode() + content + f"\r\n--{edge}--\r\n".encode(),
        {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2],
        },
    )
    answer = connection.getresponse()
    if answer.status != 204:
        raise AssertionError(f"the upload was refused: {answer.status} {answer.read()!r}")
    connection.close()


def _get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("localhost", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    size = len(answer.read())
    if answer.status != 200:
        raise AssertionError(f"the download failed: {answer.status}")
    connection.close()
    return size


async def uploads(server: Server, content: bytes, wait: float = REST_SECONDS) -> tuple[float, float]:
    """Megabytes with all sessions open, and after they were closed in turn."""
    visitors = []
    for _ in range(SESSIONS):
        visitor = await Uploader.arrive(server.port)
        await visitor.upload(content)
        visitors.append(visitor)
    await asyncio.sleep(REST_SECONDS)
    full = megabytes(server)
    for visitor in visitors:
        await visitor.socket.close()
        await asyncio.sleep(0.05)
    await asyncio.sleep(wait)
    return full, megabytes(server)


async def downloads(server: Server, content: bytes) -> tuple[float, float, float, float]:
    """Largest and final megabytes, the bytes of one download, and the seconds of all."""
    visitor = await Uploader.arrive(server.port)
    await visitor.upload(content)
    largest, start, size = 0.0, monotonic(), 0
    for number in range(DOWNLOADS):
        size = await visitor.download("NPZ")
        if number % 20 == 0:
            largest = max(largest, megabytes(server))
    seconds = monotonic() - start
    await visitor.socket.close()
    await asyncio.sleep(REST_SECONDS)
    return largest, megabytes(server), size, seconds


@benchmark("freed")
def measure() -> list[Row]:
    """One server for uploads, one for downloads; each is first warmed up by a small upload."""
    with serve({"HEADLIGHT_CHECKPOINTS": str(CHECKPOINTS)}) as server:
        asyncio.run(_warm_up(server))
        before, content = megabytes(server), upload_of(LARGEST)
        full, after = asyncio.run(uploads(server, content))
        bulky = upload_of(FULL_SIZE, constant=False)
        bulky_full, bulky_after = asyncio.run(uploads(server, bulky, WAIT_SECONDS))
    many = f"memory that is not given back after {SESSIONS} sessions with the largest accepted attention file"
    weights = f"{len(content) / 1000:.0f} kB each, 4 × 4 × {LARGEST} × {LARGEST} weights; {before:.0f} MB before"
    more = f"the same, two minutes after {SESSIONS} more with a file of {len(bulky) / 1e6:.0f} MB"
    rows = [
        _row(many, after - before, full - before, "while all are open", weights),
        _row(more, bulky_after - before, bulky_full - before, "while all are open"),
    ]
    with serve({"HEADLIGHT_CHECKPOINTS": str(CHECKPOINTS)}) as server:
        asyncio.run(_warm_up(server))
        before = megabytes(server)
        largest, after, size, seconds = asyncio.run(downloads(server, upload_of(LARGE, constant=False)))
    exports = f"memory that is not given back after {DOWNLOADS:,} downloads of a large export"
    each = f"{size / 1e6:.1f} MB each (NPZ), {seconds:.0f} s in all; {before:.0f} MB before"
    return [*rows, _row(exports, after - before, largest - before, "at most while they last", each)]


def _row(measure: str, kept: float, most: float, when: str, detail: str = "") -> Row:
    """Megabytes that are kept, beside the most that were held, against the limit."""
    target = f"≤ {LIMIT_MB:.0f} MB"
    return Row(measure, kept, "MB", most, when, target=target, met=kept <= LIMIT_MB, detail=detail)


async def _warm_up(server: Server) -> None:
    visitor = await Uploader.arrive(server.port)
    await visitor.upload(upload_of(10))
    await visitor.download("NPZ")
    await visitor.socket.close()


if __name__ == "__main__":
    for row in measure():
        print(json.dumps(row.to_dict(), ensure_ascii=False))
