"""The window with a pywebview made for this test."""

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


class Event:
    """An event as pywebview has them: handlers are added with +=."""

    def __init__(self) -> None:
        self.handlers: list[Callable[[], Any]] = []

    def __iadd__(self, handler: Callable[[], Any]) -> Event:
        self.handlers.append(handler)
        return self

    def set(self) -> list[Any]:
        return [handler() for handler in self.handlers]


class FakeWindow:
    """What a window was told."""

    def __init__(self, agrees: bool) -> None:
        self.events = types.SimpleNamespace(before_show=Event(), closing=Event(), closed=Event())
        self.native, self.asked, self.agrees = None, list[str](), agrees
        self.gone = threading.Event()
        self.destroy = self.gone.set

    def create_confirmation_dialog(self, title: str, message: str) -> bool:
        self.asked.append(message)
        return self.agrees


class FakeBackend(types.ModuleType):
    """pywebview: `during` is what happens while the window is open."""

    class WebViewException(Exception):
        pass

    def __init__(self, during: Callable[[FakeWindow], None], agrees: bool) -> None:
        super().__init__("webview")
        self.settings: dict[str, Any] = {}
        self.made, self.during = FakeWindow(agrees), during

    def create_window(self, title: str, url: str, **options: Any) -> FakeWindow:
        self.url, self.options = url, options
        return self.made

    def start(self, **options: Any) -> None:
        self.started = options
        self.during(self.made)
        self.made.events.closed.set()


Pywebview = Callable[..., FakeBackend]


@pytest.fixture
def pywebview(monkeypatch: pytest.MonkeyPatch) -> Pywebview:
    monkeypatch.setattr(window, "_adapt_qt", lambda view: None)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")

    def install(during: Callable[[FakeWindow], None] = lambda shown: None, agrees: bool = True) -> FakeBackend:
        backend = FakeBackend(during, agrees)
        monkeypatch.setitem(sys.modules, "webview", backend)
        return backend

    return install


def test_the_window_keeps_what_the_page_keeps(pywebview: Pywebview, tmp_path: Path) -> None:
    backend = pywebview()
    AppWindow("http://localhost:8600/", tmp_path / "window", str).show()
    assert backend.url == "http://localhost:8600/"
    kept = {"private_mode": False, "storage_path": str(tmp_path / "window")}
    assert kept.items() <= backend.started.items()
    assert (tmp_path / "window").is_dir()
    assert backend.options["text_select"]
    assert backend.settings["OPEN_EXTERNAL_LINKS_IN_BROWSER"]


@pytest.mark.parametrize(
    ("question", "agrees", "by", "closes", "asked"),
    [
        ("", False, "hand", True, []),
        ("?", False, "hand", False, ["?"]),
        ("?", True, "hand", True, ["?"]),
        ("?", False, "signal", True, []),
    ],
)
def test_closing_asks_where_training_goes_on_unless_a_signal_closes(
    pywebview: Pywebview, tmp_path: Path, question: str, agrees: bool, by: str, closes: bool, asked: list[str]
) -> None:
    answers: list[Any] = []

    def during(shown: FakeWindow) -> None:
        if by == "signal":
            opened.close()
            assert shown.gone.is_set()
        answers.extend(shown.events.closing.set())

    backend = pywebview(during, agrees)
    opened = AppWindow("http://x/", tmp_path, lambda: question)
    opened.show()
    assert (answers, backend.made.asked) == ([closes], asked)


def test_without_a_backend_or_a_screen_it_is_the_browser(
    pywebview: Pywebview, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
