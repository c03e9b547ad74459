"""Memory that the server gives back: after 36 sessions with the largest upload, and after 1,000 large downloads."""

from __future__ import annotations

import asyncio
import io
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.lab import Lab
from tests.benchmarks.load import megabytes
from tests.benchmarks.registry import Row, benchmark
from tests.browser import Server, serve
from tests.visitor import Connection, Trouble

SESSIONS, DOWNLOADS = 36, 1000
LIMIT_MB = 300.0
LARGEST, LARGE = 1000, 250  # tokens: 4 layers of 4 heads, 64 MB and 4 MB of weights
FULL_SIZE, WAIT_SECONDS = 570, 130.0  # tokens of a file of nearly 20 MB; what Streamlit takes to forget a session
REST_SECONDS = 1.0


def upload_of(tokens: int, *, constant: bool = True) -> bytes:
    """Weights of 4 × 4 heads; deflate shrinks constant ones to next to nothing."""
    content, shape = io.BytesIO(), (4, 4, tokens, tokens)
    weights = np.ones(shape) if constant else np.random.default_rng(0).random(shape)
    weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    np.savez_compressed(content, encoder=weights, src_tokens=np.array([f"t{i}" for i in range(tokens)]))
    return content.getvalue()


@dataclass
class Uploader(Connection):
    """A tab of the Attention page whose panel for own files is open."""

    session: str = ""
    uploader: str = ""
    fragment: str = ""
    downloads: dict[str, str] = field(default_factory=dict)  # a button's label → its deferred file
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

    async def download(self, label: str) -> int:
        """Press a download button and fetch its file; its size in bytes."""
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id, request.session_id = str(uuid.uuid4()), self.session
        request.deferred_file.file_id = self.downloads[label]
        await self.socket.send(message.SerializeToString())
        while (answer := await self.next()).WhichOneof("type") != "backend_operation_response":
            pass
        url = answer.backend_operation_response.deferred_file.url
        return len(await asyncio.to_thread(_fetch, f"http://localhost:{self.port}{url}"))

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
        if what == "download_button":
            self.downloads[element.download_button.label] = element.download_button.deferred_file_id


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


async def downloads(server: Server, content: bytes, times: int) -> tuple[float, float, float, float]:
    """Largest and final megabytes, the bytes of one download, and the seconds of all."""
    visitor = await Uploader.arrive(server.port)
    await visitor.upload(content)
    largest, start, size = 0.0, monotonic(), 0
    for number in range(times):
        size = await visitor.download("NPZ")
        if number % 20 == 0:
            largest = max(largest, megabytes(server))
    seconds = monotonic() - start
    await visitor.leave()
    await asyncio.sleep(REST_SECONDS)
    return largest, megabytes(server), size, seconds


@benchmark("freed")
def measure(lab: Lab) -> Iterator[Row]:
    """One server for uploads, one for downloads; each is first warmed up by a small upload."""
    sessions, times = lab.times(SESSIONS), lab.times(DOWNLOADS)
    with serve() as server:
        asyncio.run(warm_up(server))
        before, content = megabytes(server), upload_of(LARGEST)
        full, after = asyncio.run(uploads(server, content, sessions=sessions))
        yield _row(
            f"memory that is not given back after {sessions} sessions with the largest accepted attention file",
            after - before,
            full - before,
            "while all are open",
            f"{len(content) / 1000:.0f} kB each, 4 × 4 × {LARGEST} × {LARGEST} weights; {before:.0f} MB before",
        )
        bulky = upload_of(FULL_SIZE, constant=False)
        full, after = asyncio.run(uploads(server, bulky, sessions=sessions, wait=WAIT_SECONDS))
        more = f"the same, two minutes after {sessions} more with a file of {len(bulky) / 1e6:.0f} MB"
        yield _row(more, after - before, full - before, "while all are open")
    with serve() as server:
        asyncio.run(warm_up(server))
        before = megabytes(server)
        largest, after, size, seconds = asyncio.run(downloads(server, upload_of(LARGE, constant=False), times))
    exports = f"memory that is not given back after {times:,} downloads of a large export"
    each = f"{size / 1e6:.1f} MB each (NPZ), {seconds:.0f} s in all; {before:.0f} MB before"
    yield _row(exports, after - before, largest - before, "at most while they last", each)


def _row(measure: str, kept: float, most: float, when: str, detail: str = "") -> Row:
    """Megabytes that are kept, beside the most that were held, against the limit."""
    return Row.within(measure, kept, "MB", LIMIT_MB, other=most, against=when, detail=detail)


async def warm_up(server: Server) -> None:
    """Upload and download something small."""
    visitor = await Uploader.arrive(server.port)
    await visitor.upload(upload_of(10))
    await visitor.download("NPZ")
    await visitor.leave()
