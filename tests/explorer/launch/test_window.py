"""The window with a pywebview made for this test; a real one is driven in tests/e2e/test_window.py."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.launch import start, window
from explorer.launch.window import AppWindow, NoWindowError


class Event(list):
    """An event as pywebview has them: handlers are added with +=."""

    def __iadd__(self, handler: Any) -> Event:
        self.append(handler)
        return self

    def set(self) -> list[Any]:
        return [handler() for handler in self]


class FakeWindow:
    """What a window was told."""

    def __init__(self, *, agrees: bool = True) -> None:
        self.events = types.SimpleNamespace(before_show=Event(), closing=Event(), closed=Event())
        self.native, self.asked, self.agrees = None, [], agrees
        self.gone = threading.Event()

    def create_confirmation_dialog(self, title: str, message: str) -> bool:
        self.asked.append(message)
        return self.agrees

    def destroy(self) -> None:
        self.gone.set()


class FakeBackend(types.ModuleType):
    """pywebview: `during` is what happens while the window is open."""

    class WebViewException(Exception):
        pass

    def __init__(self, during: Callable[[FakeWindow], None], made: FakeWindow) -> None:
        super().__init__("webview")
        self.settings: dict[str, Any] = {}
        self.made, self._during, self.started = made, during, {}

    def create_window(self, title: str, url: str, **options: Any) -> FakeWindow:
        self.url, self.options = url, options
        return self.made

    def start(self, **options: Any) -> None:
        self.started = options
        self._during(self.made)
        self.made.events.closed.set()


@pytest.fixture
def pywebview(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeBackend]:
    monkeypatch.setattr(window, "_adapt_qt", lambda view: None)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")

    def install(during: Callable[[FakeWindow], None] = lambda shown: None, made: FakeWindow | None = None) -> Any:
        backend = FakeBackend(during, made or FakeWindow())
        monkeypatch.setitem(sys.modules, "webview", backend)
        return backend

    return install


def test_the_window_keeps_what_the_page_keeps(pywebview: Callable[..., FakeBackend], tmp_path: Path) -> None:
    backend = pywebview()
    AppWindow("http://localhost:8600/", tmp_path / "window", str).show()
    assert backend.url == "http://localhost:8600/"
    assert backend.started["private_mode"] is False
    assert backend.started["storage_path"] == str(tmp_path / "window")
    assert (tmp_path / "window").is_dir()
    assert backend.options["text_select"]
    assert backend.settings["OPEN_EXTERNAL_LINKS_IN_BROWSER"]


@pytest.mark.parametrize(
    ("question", "agrees", "signalled", "closes", "asks"),
    [
        ("", False, False, True, False),
        ("?", False, False, False, True),
        ("?", True, False, True, True),
        ("?", False, True, True, False),
    ],
)
def test_closing_asks_where_training_goes_on_unless_a_signal_closes(
    pywebview: Callable[..., FakeBackend],
    tmp_path: Path,
    question: str,
    agrees: bool,
    signalled: bool,
    closes: bool,
    asks: bool,
) -> None:
    answers: list[Any] = []

    def during(shown: FakeWindow) -> None:
        if signalled:
            opened.close()
            assert shown.gone.is_set()
        answers.extend(shown.events.closing.set())

    backend = pywebview(during, FakeWindow(agrees=agrees))
    opened = AppWindow("http://x/", tmp_path, lambda: question)
    opened.show()
    assert answers == [closes]
    assert backend.made.asked == [question] * asks


def test_without_a_backend_or_a_screen_it_is_the_browser(
    pywebview: Callable[..., FakeBackend], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def fail(shown: FakeWindow) -> None:
        raise FakeBackend.WebViewException("You must have either QT or GTK")

    pywebview(fail)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert not start._in_window("http://localhost:8600/", str)
    said = capsys.readouterr().out
    assert said.startswith("There is no backend for windows (`pip install")
    assert said.endswith("opens in the browser.\n")
    monkeypatch.setitem(sys.modules, "webview", None)
    with pytest.raises(NoWindowError, match="There is no pywebview"):
        window._import_backend()
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoWindowError, match="There is no screen for a window"):
        window._import_backend()
