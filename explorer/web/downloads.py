"""Downloads, whose files are made on click and kept until the browser fetches them; and the size of uploads.

Streamlit drops a file made on demand as soon as two script runs have ended, in any session, because no page refers to
it. With a whole class at work, that happens before the browser can fetch the file. The server itself therefore refers
to each file for a minute.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

from explorer.web.streamlit_private import drop_unreferenced_files, refer_to_file

KEPT_SECONDS = 60.0
MAX_KEPT = 32  # files held at once; the next one replaces the oldest
MAX_BYTES = 100_000_000  # of all files held, except the newest

_turn = itertools.count()
_lock = threading.Lock()
_held: dict[int, int] = {}  # bytes by the number of the download, oldest first


def download_button(
    label: str,
    make: Callable[[], bytes | str],
    file_name: str,
    mime: str,
    *,
    key: str,
    help: str | None = None,
    quiet: bool = False,
) -> None:
    """Draw a button that downloads what `make` returns, without a script run; a `quiet` one is a small link."""

    def make_and_keep() -> bytes:
        content = make()
        content = content.encode() if isinstance(content, str) else content
        _keep(content, mime, file_name)
        return content

    look: dict[str, Any] = {"type": "tertiary", "icon": ":material/download:"} if quiet else {}
    st.download_button(
        label, data=make_and_keep, file_name=file_name, mime=mime, key=key, on_click="ignore", help=help, **look
    )


def _keep(content: bytes, mime: str, file_name: str) -> None:
    """Refer to a file for a minute, so that no clean-up removes it before it is fetched."""
    with _lock:
        turn = next(_turn)
        _held[turn] = len(content)
        while len(_held) > MAX_KEPT or (len(_held) > 1 and sum(_held.values()) > MAX_BYTES):
            _forget(next(iter(_held)))
        refer_to_file(content, mime, _place(turn), file_name)
    release = threading.Timer(KEPT_SECONDS, _release, (turn,))
    release.daemon = True
    release.start()


def _release(turn: int) -> None:
    with _lock:
        if turn in _held:
            _forget(turn)


def _forget(turn: int) -> None:
    del _held[turn]
    refer_to_file(b"", "text/plain", _place(turn), "")
    drop_unreferenced_files()


def _place(turn: int) -> str:
    return f"headlight.download.{turn % (MAX_KEPT + 1)}"


def megabytes(wanted: int) -> int:
    """The largest upload, in megabytes, that a field may promise: at most what `server.maxUploadSize` allows.

    The server answers a larger file with a bare HTTP error, so the field has to refuse it first, in a sentence.
    """
    return min(wanted, int(st.get_option("server.maxUploadSize")))
