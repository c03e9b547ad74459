"""Preparations before a page runs: imports ahead of time, and a header that lets the browser fetch code early."""

from __future__ import annotations

import gc
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any

from explorer.browser import assets
from model import faults

Send = Callable[[dict[str, Any]], Awaitable[None]]

# Pages that run a model; the others open without torch.
_WITH_MODEL = frozenset({"", "start", "translate", "attention", "positions", "masks", "inside", "probe"})
REST_SECONDS = 1.0  # from the end of the first run: the browser is drawing its page

_first_run_over = threading.Event()
_importing = 0
_lock = threading.Lock()


class WarmUp:
    """ASGI middleware: when the first browser requests a page, start importing what that page will need.

    The browser takes a second to load Streamlit's own scripts before it requests a run of the page. Imports that
    run in the meantime cost no waiting time later. The `later` ones follow once the first page has been drawn.
    A server without visitors, or with visitors only to its list of runs, imports only `frame`, which all pages share:
    it does so as soon as it answers, before a browser has been opened.

    A response that is a page names the code of the page's first figure in a `Link` header, so that the browser fetches
    it while it still loads Streamlit's own scripts.
    """

    def __init__(
        self, app: Any, frame: Callable[[], None] = lambda: None, later: Sequence[Callable[[], None]] = ()
    ) -> None:
        self._app, self._frame, self._later = app, frame, later
        self._begun = False

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request to Streamlit; the first for a page with a model starts the imports."""
        if scope["type"] == "lifespan":
            send = self._watching(send)
        elif scope["type"] == "http":
            if not self._begun and scope["path"].strip("/") in _WITH_MODEL:
                self._begun = True
                _in_background(self._begin, "import-ahead")
            if (entry := assets.FIRST.get(scope["path"].rpartition("/")[2])) is not None:
                send = _naming_code(entry, send)
        await self._app(scope, receive, send)

    def _watching(self, send: Send) -> Send:
        """A `send` that also starts the import of the frame once the server is up."""

        async def sent(message: dict[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                _in_background(self._frame, "import-frame")

        return sent

    def _begin(self) -> None:
        import_ahead()
        _first_run_over.wait()
        get_ready(self._later)


def _naming_code(entry: str, send: Send) -> Send:
    """A `send` that adds the `Link` header to a response that is a page."""
    # Relative, because a proxy may serve the app under another path.
    links = [f"<./{assets.address(name)}>; rel=preload; as=fetch; crossorigin" for name in ("frame", entry)]

    async def answer(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
                message = {**message, "headers": [*headers, (b"link", ", ".join(links).encode())]}
        await send(message)

    return answer


def _in_background(work: Callable[[], None], name: str) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


@contextmanager
def quick_imports() -> Iterator[None]:
    """Suspend garbage collection during heavy imports, and exclude their objects from later collections.

    Scanning hundreds of thousands of objects repeatedly takes a third of the time of importing torch and spaCy. Two
    threads may import at once; the last to finish switches the collector on again.
    """
    global _importing
    with _lock:
        _importing += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _importing -= 1
            if not _importing:
                gc.freeze()
                gc.enable()


@contextmanager
def page_run() -> Iterator[None]:
    """Wrap a page run: the first of a process does the imports, and other preparations wait until it has ended."""
    if _first_run_over.is_set():
        yield
        return
    with quick_imports():
        try:
            yield
        finally:
            _first_run_over.set()


def import_ahead() -> None:
    """Import what a page with a model needs, so that a later page finds it already imported."""
    with quick_imports():
        import spacy  # noqa: F401
        import torch  # noqa: F401

        import explorer.decoding.translator  # noqa: F401
        import model.checkpoint  # noqa: F401


def get_ready(parts: Sequence[Callable[[], None]], rest: float = REST_SECONDS) -> None:
    """Import what other pages need and read what they show first, one part after the other.

    Each part is followed by a pause of equal length: visitors go first.
    """
    sleep(rest)
    for part in parts:
        start = perf_counter()
        with quick_imports():
            try:
                part()
            except Exception as fault:  # the page itself says what is wrong when it is opened
                faults.report(fault)
        sleep(perf_counter() - start)
