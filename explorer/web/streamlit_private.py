"""What is used of Streamlit beyond its documented interface: each name in one place, with what is lost without it.

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

import streamlit as st
from streamlit.runtime import RuntimeState, exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import WStates

from explorer.decoding import cache

_BEFORE_EXPIRY = 2.0  # seconds before Streamlit loses sight of a session that has no browser


def in_page_run() -> bool:
    """Whether this thread runs a page: only there can something be said to the visitor.

    Without `get_script_run_ctx`, a background thread that waits for a model would draw into no page and fail.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


def contain_callbacks(on_error: Callable[[Exception], None]) -> None:
    """Have `on_error` handle what goes wrong in a widget's callback, on every page; the run then goes on.

    Callbacks run before the page, where no block is around them. Without `WStates.call_callback`, which is wrapped
    once per process, the page is empty after a fault: `on_script_error` of `st.App` hears of it, but the run has ended.
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
    """Have the server itself refer to a file, under the name of a place, instead of what was in that place before.

    Without the manager of media files, a file made on demand is dropped as soon as two script runs have ended, in any
    session; with a whole class at work, that happens before the browser can fetch it.
    """
    if exists():
        get_instance().media_file_mgr.add(content, mime, place, file_name, is_for_static_download=True)


def drop_unreferenced_files() -> None:
    """Drop the files that nothing refers to; otherwise they stay until somebody's script run ends."""
    if exists():
        for _ in ("marks them", "drops them"):
            get_instance().media_file_mgr.remove_orphaned_files()


def end_after_leaving() -> None:
    """End this session two minutes after its browser has left for good; call it in each run of a page.

    When nobody is there any more, what was computed for all is dropped as well, up to 290 MB.

    Without `close_session`, Streamlit lets go of a session only when the next one ends, and never of the files that
    were uploaded in it: after 10 uploads of 19 MB, the server held 620 MB for ever, after 20 1,013 MB.
    """
    if (run := get_script_run_ctx(suppress_warning=True)) is not None:
        _until_left(run.session_id)


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda session: _left(session))
def _until_left(session: str) -> str:
    """A value that Streamlit holds for a session until its browser is gone, be it only for a moment."""
    return session


def _left(session: str) -> None:
    """Look after the session again shortly before it expires; it may have come back by then."""
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
    """Give memory back to the system; where nobody is there to notice, first drop all results and garbage."""
    if empty:
        cache.clear()
        gc.collect()
    give_memory_back()


def give_memory_back() -> None:
    """Give freed memory back to the system, where the C library can (glibc).

    It returns a large block at once only until it has freed the first: from then on it holds blocks of up to that size
    for later. Of 36 uploads of 19 MB, 1.6 GB stayed with the server in this way.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
