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

_turn = itertools.count()
_lock = threading.Lock()
_holder: dict[str, int] = {}  # place → number of the download that owns it


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
        _holder[place] = turn
        get_instance().media_file_mgr.add(content, mime, place, file_name, is_for_static_download=True)
    release = threading.Timer(KEPT_SECONDS, _release, (place, turn))
    release.daemon = True
    release.start()


def _release(place: str, turn: int) -> None:
    """Empty the file's place, unless a later download has taken it over."""
    with _lock:
        if _holder.get(place) == turn and exists():
            get_instance().media_file_mgr.add(b"", "text/plain", place, "", is_for_static_download=True)
