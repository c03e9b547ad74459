"""A window of its own, by pywebview: Edge's engine on Windows, WebKit on macOS, Qt's Chromium on Linux."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.runs.home import ROOT
from model.user_error import UserError

if TYPE_CHECKING:
    import webview

TITLE = "Headlight"
SIZE = (1280, 800)
_ICON = ROOT / "explorer" / "images" / "headlight.svg"
_ZOOM_STEP, _ZOOM_LEAST, _ZOOM_MOST = 1.1, 0.3, 4.0


class NoWindowError(UserError):
    """No window can be opened here; the message says what is missing."""


class AppWindow:
    """One window on a running server; :meth:`show` returns when it is closed.

    `question` returns what to ask before the window is closed, or an empty string.
    """

    def __init__(self, url: str, storage: Path, question: Callable[[], str]) -> None:
        self._url, self._storage, self._question = url, storage, question
        self._closed = threading.Event()
        self._asks = True
        self._window: webview.Window | None = None
        self._interrupt: Any = signal.SIG_DFL

    def show(self) -> None:
        """Open the window and wait until it is closed; call it from the main thread.

        Raises:
            NoWindowError: pywebview, its backend or a screen is missing.
        """
        backend = _import_backend()
        linux = sys.platform.startswith("linux")
        # Qt's own way of saving asks with a dialog whose answer pywebview cannot use; see _adapt_qt.
        backend.settings["ALLOW_DOWNLOADS"] = not linux
        backend.settings["OPEN_EXTERNAL_LINKS_IN_BROWSER"] = True
        self._storage.mkdir(parents=True, exist_ok=True)
        window = backend.create_window(
            TITLE, self._url, width=SIZE[0], height=SIZE[1], min_size=(480, 360), text_select=True, zoomable=True
        )
        assert window is not None
        self._window, self._interrupt = window, signal.getsignal(signal.SIGINT)
        window.events.before_show += self._adapt
        window.events.closing += self._confirm
        window.events.closed += self._closed.set
        try:
            # A lasting profile: the chosen theme is kept there.
            backend.start(gui="qt" if linux else None, private_mode=False, storage_path=str(self._storage))
        except backend.WebViewException:
            raise NoWindowError(_missing("no backend for windows")) from None
        finally:
            self._closed.set()

    def close(self) -> None:
        """Close the window without asking, from any thread or from a signal."""
        self._asks = False
        if self._window is not None and not self._closed.is_set():
            self._window.destroy()

    def _confirm(self) -> bool:
        """Whether the window may close; if training would continue without it, the user is asked."""
        question = self._question() if self._asks else ""
        return not question or bool(self._window and self._window.create_confirmation_dialog(TITLE, question))

    def _adapt(self) -> None:
        if sys.platform.startswith("linux") and self._window is not None:
            signal.signal(signal.SIGINT, self._interrupt)  # pywebview's handler only leaves the event loop
            _adapt_qt(self._window.native)


def has_screen() -> bool:
    """Whether a window can appear: on Linux, without a display, the "browser" would be a program in this terminal."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _missing(what: str) -> str:
    needed = "pywebview PySide6 QtPy" if sys.platform.startswith("linux") else "pywebview"
    return f"There is {what} (`pip install {needed}` brings one), so Headlight opens in the browser."


def _import_backend() -> Any:
    """pywebview, if it can open a window here.

    Raises:
        NoWindowError: it is not installed, or there is no screen.
    """
    logging.getLogger("pywebview").setLevel(logging.CRITICAL)  # else it prints a traceback for each missing backend
    if not has_screen() and not os.environ.get("QT_QPA_PLATFORM"):  # Qt has screens of its own, for tests
        raise NoWindowError("There is no screen for a window, so Headlight only prints its address.")
    try:
        import webview
    except ImportError:
        raise NoWindowError(_missing("no pywebview")) from None
    return webview


def _adapt_qt(view: Any) -> None:
    """What pywebview leaves out of a Qt window: downloads, the clipboard, full screen, zoom, and the page's title."""
    from qtpy import QtCore, QtGui, QtWidgets
    from qtpy.QtWebEngineCore import QWebEngineSettings

    QtWidgets.QApplication.setApplicationName(TITLE)
    view.setWindowIcon(QtGui.QIcon(str(_ICON)))
    web, page = view.webview, view.webview.page()
    settings = page.settings()
    for name in ("JavascriptCanAccessClipboard", "FullScreenSupportEnabled"):
        settings.setAttribute(getattr(QWebEngineSettings.WebAttribute, name), True)
    downloads = QtCore.QStandardPaths.writableLocation(QtCore.QStandardPaths.StandardLocation.DownloadLocation)
    page.profile().setDownloadPath(downloads)
    page.profile().downloadRequested.connect(lambda download: download.accept())  # under a name that is free
    page.titleChanged.connect(lambda title: view.setWindowTitle(title or TITLE))

    def fill_screen(request: Any) -> None:
        request.accept()
        if request.toggleOn() != view.is_fullscreen:
            view.on_fullscreen()

    page.fullScreenRequested.connect(fill_screen)

    def zoom(factor: float) -> None:
        wanted = web.zoomFactor() * factor if factor else 1.0
        web.setZoomFactor(min(max(wanted, _ZOOM_LEAST), _ZOOM_MOST))

    keys: tuple[tuple[str, Callable[[], None]], ...] = (
        ("F11", view.on_fullscreen),
        ("Ctrl++", lambda: zoom(_ZOOM_STEP)),
        ("Ctrl+=", lambda: zoom(_ZOOM_STEP)),
        ("Ctrl+-", lambda: zoom(1 / _ZOOM_STEP)),
        ("Ctrl+0", lambda: zoom(0)),
    )
    for key, action in keys:
        QtGui.QShortcut(QtGui.QKeySequence(key), view).activated.connect(action)
