"""Download buttons whose file is made on click and is still available when the browser fetches it.

Streamlit drops a file made on demand as soon as two script runs have ended, in any session, because no page refers to
it. With a whole class at work, that happens before the browser can fetch the file. The server itself therefore refers
to each file for a minute.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance

KEPT_SECONDS = 60.0
MAX_KEPT = 32  # maximum number of files held at once; the oldest is dropped first
MAX_BYTES = 100_000_000  # of all files held, but for the newest

_turn = itertools.count()
_lock = threading.Lock()
_holder: dict[str, tuple[int, int]] = {}  # place → number of the download that owns it, and its bytes


def download_button(
    label: str, make: Callable[[], bytes | str], file_name: str, mime: str, *, key: str, help: str | None = None
) -> None:
    """Draw a button that downloads what `make` returns, without a script run."""

    def made() -> bytes:
        content = make()
        content = content.encode() if isinstance(content, str) else content
        keep(content, mime, file_name)
        return content

    st.download_button(label, data=made, file_name=file_name, mime=mime, key=key, on_click="ignore", help=help)


def keep(content: bytes, mime: str, file_name: str) -> None:
    """Hold a file in Streamlit's store for a minute, so that no clean-up removes it before it is fetched."""
    if not exists():  # no server, so nothing will be fetched
        return
    turn = next(_turn)
    place = f"headlight.download.{turn % MAX_KEPT}"
    with _lock:
        _holder[place] = turn, len(content)
        get_instance().media_file_mgr.add(content, mime, place, file_name, is_for_static_download=True)
        _drop_oldest(place)
    release = threading.Timer(KEPT_SECONDS, _release, (place, turn))
    release.daemon = True
    release.start()


def _release(place: str, turn: int) -> None:
    """Empty the file's place, unless a later download has taken it over."""
    with _lock:
        if _holder.get(place, (-1, 0))[0] == turn:
            _empty(place)
            _clean_up()


def _drop_oldest(newest: str) -> None:
    """Empty places, the oldest first, until what they hold is within the limit."""
    dropped = False
    for place in sorted(_holder, key=_holder.__getitem__):
        if sum(size for _, size in _holder.values()) <= MAX_BYTES or place == newest:
            break
        _empty(place)
        dropped = True
    if dropped:
        _clean_up()


def _empty(place: str) -> None:
    del _holder[place]
    if exists():
        get_instance().media_file_mgr.add(b"", "text/plain", place, "", is_for_static_download=True)


def _clean_up() -> None:
    """Have Streamlit drop the files that nothing refers to; otherwise they stay until somebody's script run ends.

    The first call marks them, the second drops them.
    """
    if exists():
        get_instance().media_file_mgr.remove_orphaned_files()
        get_instance().media_file_mgr.remove_orphaned_files()
