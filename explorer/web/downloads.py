"""Buttons whose file is made when somebody presses them, and is still there when the browser comes for it.

Streamlit forgets a file made on demand as soon as two script runs have ended, whoever they belong to, since no page
refers to it: with a class at work that is sooner than the browser can fetch it. Each file is therefore referred to,
for a minute, by the server itself.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance

KEPT_SECONDS = 60.0
MAX_KEPT = 32  # at most so many files at once; the oldest goes first

_turn = itertools.count()
_lock = threading.Lock()
_holder: dict[str, int] = {}  # place → which download it belongs to


def download_button(
    label: str, make: Callable[[], bytes | str], file_name: str, mime: str, *, key: str, help: str | None = None
) -> None:
    """A button that hands out what `make` returns, and runs no script."""

    def made() -> bytes:
        content = make()
        content = content.encode() if isinstance(content, str) else content
        keep(content, mime, file_name)
        return content

    st.download_button(label, data=made, file_name=file_name, mime=mime, key=key, on_click="ignore", help=help)


def keep(content: bytes, mime: str, file_name: str) -> None:
    """Hold a file in Streamlit's store for a minute, so that no clean-up takes it before it was fetched."""
    if not exists():  # no server: nobody will fetch anything
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
    """Put nothing in the file's place, unless a later download took it over."""
    with _lock:
        if _holder.get(place) == turn and exists():
            get_instance().media_file_mgr.add(b"", "text/plain", place, "", is_for_static_download=True)
