"""Start the app: find or start a server, open it, and end it with this command."""

from __future__ import annotations

import signal
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

from platformdirs import user_data_path

from explorer.launch.models_folder import models_folder
from explorer.launch.options import LaunchError, Options
from explorer.launch.server import environment, find_server, is_alive, start_server, stop, wait_until_ready, wishes
from explorer.launch.window import AppWindow, NoWindowError, has_screen
from explorer.locale.text import listed
from explorer.runs.lifecycle import Runs
from model.commands import fail
from model.folder import CheckpointError, find_model


class Ended(BaseException):
    """Ctrl-C, or a signal that asks this command to end."""


def run(options: Options) -> int:
    """Run the app; returns the exit code. An error is one sentence on standard error and code 2."""
    try:
        with _signals():
            return _start(options)
    except (LaunchError, CheckpointError) as error:
        fail(str(error))
    except Ended:
        return 0


def _start(options: Options) -> int:
    checkpoints = models_folder(options.checkpoints)
    if options.model:
        find_model(checkpoints, options.model)
    wished = wishes(options, checkpoints)
    running = find_server(options, wished)
    url = wait_until_ready(running, options) if running is not None else ""
    if url:
        page = _page(url, options)
        _say(f"Headlight is running already, at {page}")
        if not (options.way == "window" and _in_window(page, lambda: "")) and _opens(options):
            webbrowser.open(page)
        return 0
    _say("Starting Headlight …")
    server = start_server(options, environment(checkpoints, wished, viewer=options.viewer))
    try:
        url = wait_until_ready(server, options)
        if not url:
            code = server.wait()
            raise LaunchError(
                "The server ended with code {code} before it was ready; what it printed says why.", code=code
            )
        page = _page(url, options)
        _say(f"Headlight is at {page} (Ctrl-C ends it)")
        if options.way == "window" and _in_window(page, lambda: _before_closing(checkpoints)):
            return 0
        if _opens(options):
            # A thread: some systems' browsers keep the caller waiting until their window is closed.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        while is_alive(server):  # on Windows, waiting for the process itself would not notice Ctrl-C
            time.sleep(0.2)
        raise LaunchError(
            "The server has ended by itself, with code {wait}; start Headlight again.", wait=server.wait()
        )
    finally:
        stop(server)
        _say(goodbye(checkpoints))


def goodbye(checkpoints: Path) -> str:
    """The last message: the server has ended, and which training continues."""
    going = _training(checkpoints)
    if not going:
        return "Headlight has ended."
    return f"Headlight has ended. Training goes on without it: {going}. Start Headlight again to watch or stop it."


def _before_closing(checkpoints: Path) -> str:
    going = _training(checkpoints)
    return f"Training goes on without this window: {going}. Close it?" if going else ""


def _training(checkpoints: Path) -> str:
    """The running and queued runs, as a list for a sentence."""
    from explorer.runs.progress import progress  # imports numpy, which would delay the start

    going = [status for status in Runs(checkpoints).statuses() if status.busy]
    return listed(f"{status.name} ({progress(status)})" for status in going)


def _in_window(page: str, question: Callable[[], str]) -> bool:
    """Show the page in a window until it is closed; False, after a message, if no window can be opened."""
    storage = user_data_path("headlight", appauthor=False) / "window"
    window = AppWindow(page, storage, question)
    try:
        with _signals(window.close):  # an exception from a signal handler would not leave the window's loop
            window.show()
    except NoWindowError as none:
        _say(str(none))
        return False
    return True


def _page(url: str, options: Options) -> str:
    return f"{url}/" + (f"?{urlencode({'model': options.model})}" if options.model else "")


def _opens(options: Options) -> bool:
    return options.way != "none" and has_screen()


def _raise_ended() -> None:
    raise Ended


@contextmanager
def _signals(end: Callable[[], None] = _raise_ended) -> Iterator[None]:
    """Call `end` at the first signal that asks this command to end; further signals are ignored."""

    def received(number: int, frame: object) -> None:
        for name in names:
            signal.signal(name, signal.SIG_IGN)
        end()

    names = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
    before = [(name, signal.signal(name, received)) for name in names]
    try:
        yield
    finally:
        for name, handler in before:
            signal.signal(name, handler)


def _say(sentence: str) -> None:
    with suppress(OSError):  # the terminal is closed, or nobody reads any more
        print(sentence, flush=True)
