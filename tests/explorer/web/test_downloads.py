"""Files made on demand survive the clean-up after each script run, but only for a limited time."""

from collections.abc import Callable
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from explorer.web import downloads as download
from explorer.web import streamlit_private


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """A server's store of files, without the server."""
    manager = MediaFileManager(storage=MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(streamlit_private, "exists", lambda: True)
    monkeypatch.setattr(streamlit_private, "get_instance", lambda: SimpleNamespace(media_file_mgr=manager))
    return manager


@pytest.fixture
def press(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`press(make)`: draw a button that downloads what `make` returns, press it, and return the file's address."""
    drawn: list[Callable[[], bytes]] = []
    monkeypatch.setattr(st, "download_button", lambda label, *, data, **_: drawn.append(data))

    def pressed(make: Callable[[], bytes | str], name: str = "a.csv") -> str:
        download.download_button("CSV", make, name, "text/csv", key="csv")
        return manager.execute_deferred(manager.add_deferred(drawn[-1], "text/csv", "place", name))

    return pressed


def fetch(manager: MediaFileManager, address: str) -> bytes | None:
    try:
        return manager._storage.get_file(urlsplit(address).path.rpartition("/")[2]).content  # type: ignore[attr-defined]
    except MediaFileStorageError:
        return None


def tidy(manager: MediaFileManager) -> None:
    """Do what Streamlit does when any visitor's script run ends."""
    for _ in range(3):
        manager.remove_orphaned_files()


def test_streamlit_alone_loses_the_file(manager: MediaFileManager) -> None:
    """The reason for explorer/web/downloads.py: once this fails, that module can be removed."""
    address = manager.execute_deferred(manager.add_deferred(lambda: b"x", "text/csv", "place", "a.csv"))
    assert fetch(manager, address) == b"x"
    tidy(manager)
    assert fetch(manager, address) is None


def test_a_file_is_dropped_after_its_minute(manager: MediaFileManager, press: Callable[..., str]) -> None:
    first = press(lambda: "first")
    turn = max(download._held)
    for released, content in ((turn - 1, b"first"), (turn, None)):  # another download's minute, and its own
        download._release(released)
        tidy(manager)
        assert fetch(manager, first) == content


def test_files_are_held_within_a_limit_in_bytes(
    manager: MediaFileManager, press: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's script run has to end for the oldest to be dropped."""
    monkeypatch.setattr(download, "MAX_BYTES", 2500)
    monkeypatch.setattr(download, "_held", {})
    addresses = [press(lambda i=i: f"{i}" * 1000) for i in range(5)]
    assert [fetch(manager, address) for address in addresses] == [None, None, None, b"3" * 1000, b"4" * 1000]
    assert fetch(manager, press(lambda: "x" * 9000)) == b"x" * 9000  # the newest is always held
    assert fetch(manager, addresses[4]) is None


def test_files_do_not_pile_up(manager: MediaFileManager, press: Callable[..., str]) -> None:
    addresses = [press(lambda i=i: f"file {i}") for i in range(2 * download.MAX_KEPT)]
    tidy(manager)
    assert [fetch(manager, address) for address in addresses[: download.MAX_KEPT]] == [None] * download.MAX_KEPT
    assert [fetch(manager, address) for address in addresses[-2:]] == [b"file 62", b"file 63"]
