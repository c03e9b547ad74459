"""Names of Streamlit beyond its documented interface, each with what would be lost without it.

Checked against Streamlit 1.67.0. No other file may import from `streamlit.runtime` or `streamlit.web`, or use a name
of Streamlit that begins with an underscore (tests/explorer/web/test_streamlit_private.py).
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.runtime import RuntimeState, exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import WStates

from explorer.decoding import cache

_BEFORE_EXPIRY = 2.0  # seconds before Streamlit forgets a session that has no browser


def in_page_run() -> bool:
    """Whether this thread runs a page: only such a thread can show something to the visitor.

    Without `get_script_run_ctx`, a background thread that waits for a model would draw without a page, and fail.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


def through_history() -> bool:
    """Whether this run answers the browser's Back or Forward.

    Without `is_history_navigation`, such a run cannot be told from one whose request left before the browser received
    our last change of the address.
    """
    run = get_script_run_ctx(suppress_warning=True)
    return run is not None and run.is_history_navigation


def contain_callbacks(on_error: Callable[[Exception], None]) -> None:
    """Pass exceptions of widget callbacks, on every page, to `on_error`, so that the run continues.

    Callbacks run before the page, outside of any `with` block. Without `WStates.call_callback`, which is wrapped once
    per process, the page stays empty after a fault: `on_script_error` of `st.App` is called, but the run has ended.
    """
    call = WStates.call_callback
    if hasattr(call, "__wrapped__"):
        return

    @wraps(call)
    def call_contained(states: WStates, widget_id: str) -> None:
        try:
            call(states, widget_id)
        except Exception as fault:
            on_error(fault)

    WStates.call_callback = call_contained  # type: ignore[method-assign, assignment]


def refer_to_file(content: bytes, mime: str, place: str, file_name: str) -> None:
    """Register a file as used by the server itself; it replaces the one registered before under the same `place`.

    Without the manager of media files, a file made on demand is dropped as soon as two script runs have ended, in any
    session; with a whole class at work, that happens before the browser can fetch it.
    """
    if exists():
        get_instance().media_file_mgr.add(content, mime, place, file_name, is_for_static_download=True)


def drop_unreferenced_files() -> None:
    """Drop the files that no page uses; otherwise they stay until the next script run ends."""
    if exists():
        for _ in ("marks them", "drops them"):
            get_instance().media_file_mgr.remove_orphaned_files()


_ROOT = b"<head><script>window.__streamlit={BACKEND_BASE_URL:new URL('.',location.href).href}</script>"


class RootAddress:
    """ASGI middleware: tell a page that the app's root is the folder of its own address, under any base path.

    Without `window.__streamlit`, a page at /translate first asks for Streamlit's health and configuration below
    /translate: two answers of 404 in the browser's console, and a round trip before the page connects.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, and add the script to the response if it is a page."""
        if scope["type"] != "http" or b"text/html" not in dict(scope["headers"]).get(b"accept", b""):
            await self._app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = b""

        async def answer(message: dict[str, Any]) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                headers = dict(message["headers"])
                if message["status"] == 200 and headers.get(b"content-type", b"").startswith(b"text/html"):
                    start.update(message)
                    return
            elif start:
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                body = body.replace(b"<head>", _ROOT, 1)
                length = (b"content-length", str(len(body)).encode())
                others = [pair for pair in start["headers"] if pair[0] != b"content-length"]
                await send(start | {"headers": [*others, length]})
                message = message | {"body": body}
            await send(message)

        # A compressed page could not be changed.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        await self._app(scope | {"headers": headers}, receive, answer)


def end_after_leaving() -> None:
    """End this session two minutes after its browser has left for good; call it in each run of a page.

    When no session is left, the shared results are dropped as well, up to 290 MB.

    Without `close_session`, Streamlit frees a session only when the next one ends, and never frees its uploaded files:
    the server kept 620 MB after 10 uploads of 19 MB, and 1,013 MB after 20.
    """
    if (run := get_script_run_ctx(suppress_warning=True)) is not None:
        _until_left(run.session_id)


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda session: _left(session))
def _until_left(session: str) -> str:
    """A value that Streamlit holds for a session until its browser is gone, even if only for a moment."""
    return session


def _left(session: str) -> None:
    """End the session shortly before it expires, unless its browser has come back by then."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # no server, as in a test
        return
    expires = float(st.get_option("server.disconnectedSessionTTL"))
    loop.call_later(max(0.0, expires - _BEFORE_EXPIRY), _end, session)


def _end(session: str) -> None:
    if exists() and not get_instance().is_active_session(session):
        get_instance().close_session(session)
        empty = get_instance().state == RuntimeState.NO_SESSIONS_CONNECTED
        asyncio.get_running_loop().run_in_executor(None, _tidy, empty)


def _tidy(empty: bool) -> None:
    """Return memory to the system; without visitors, first drop all results and collect garbage."""
    if empty:
        cache.clear()
        gc.collect()
    give_memory_back()


def give_memory_back() -> None:
    """Return freed memory to the system, if the C library can (glibc).

    After glibc has freed one large block, it keeps freed blocks of up to that size for later use. After 36 uploads of
    19 MB, the server kept 1.6 GB in this way.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
