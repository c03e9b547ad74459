"""Download buttons whose file is made on click and is still available when the browser fetches it.

Streamlit drops a file made on demand as soon as two script runs have ended, in any session, because no page refers to
it. With a whole class at work, that happens before the browser can fetch the file. The server itself therefore refers
to each file for a minute.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime import exists, get_instance

from explorer.byte_cache import asking, working_for

KEPT_SECONDS = 60.0
MAX_KEPT = 32  # maximum number of files held at once; the oldest of the session with the most is dropped first
MAX_BYTES = 100_000_000  # of all files held, but for the newest

_turn = itertools.count()
_lock = threading.Lock()


class _Held(NamedTuple):
    """A file that the server refers to: the number of the download, its bytes, and the session that it is for."""

    turn: int
    size: int
    session: str


_holder: dict[str, _Held] = {}  # by place


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
    session = asking()

    def made() -> bytes:
        with working_for(session):  # Streamlit calls this in a thread that does not know its session
            content = make()
        content = content.encode() if isinstance(content, str) else content
        keep(content, mime, file_name, session)
        return content

    look: dict[str, Any] = {"type": "tertiary", "icon": ":material/download:"} if quiet else {}
    st.download_button(label, data=made, file_name=file_name, mime=mime, key=key, on_click="ignore", help=help, **look)


def keep(content: bytes, mime: str, file_name: str, session: str) -> None:
    """Hold a file in Streamlit's store for a minute, so that no clean-up removes it before it is fetched."""
    if not exists():  # no server, so nothing will be fetched
        return
    with _lock:
        full = len(_holder) >= MAX_KEPT
        places = (f"headlight.download.{i}" for i in range(MAX_KEPT))
        place = _first_to_go() if full else next(place for place in places if place not in _holder)
        _holder[place] = held = _Held(next(_turn), len(content), session)
        get_instance().media_file_mgr.add(content, mime, place, file_name, is_for_static_download=True)
        _make_room(place)
    release = threading.Timer(KEPT_SECONDS, _release, (place, held.turn))
    release.daemon = True
    release.start()


def _release(place: str, turn: int) -> None:
    """Empty the file's place, unless a later download has taken it over."""
    with _lock:
        if place in _holder and _holder[place].turn == turn:
            _empty(place)
            _clean_up()


def _make_room(newest: str) -> None:
    """Empty places until what they hold is within the limit."""
    dropped = False
    while len(_holder) > 1 and sum(held.size for held in _holder.values()) > MAX_BYTES:
        _empty(_first_to_go(newest))
        dropped = True
    if dropped:
        _clean_up()


def _first_to_go(newest: str = "") -> str:
    """The oldest file of the session that has the most bytes: one visitor's do not displace those of others."""
    sizes: Counter[str] = Counter()
    for place, held in _holder.items():
        if place != newest:
            sizes[held.session] += held.size + 1
    [(most, _)] = sizes.most_common(1)
    return min(
        (place for place in _holder if _holder[place].session == most and place != newest), key=_holder.__getitem__
    )


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
