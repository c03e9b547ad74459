"""`python -m explorer` and `headlight`: find or start a server, open it, and end it with this command."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from explorer.launch import running
from explorer.launch.models_folder import models_folder
from explorer.launch.options import LaunchError, Options, parse
from explorer.launch.running import Asked, Running
from explorer.launch.server import Server, answers, environment, start_server, wait_until_ready
from explorer.runs.lifecycle import Runs
from explorer.runs.progress import progress
from explorer.runs.viewer_mode import viewing
from explorer.text import listed
from model.commands import fail
from model.folder import CheckpointError, find_model


class Ended(BaseException):
    """Ctrl-C, or a signal that asks this command to end."""


def run(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code. An error is one sentence on standard error and code 2."""
    try:
        with _signals():
            return _start(parse(arguments))
    except (LaunchError, CheckpointError) as error:
        fail(str(error))
    except Ended:
        return 0


def _start(options: Options) -> int:
    checkpoints = models_folder(options.checkpoints)
    if options.model:
        find_model(checkpoints, options.model)
    asked = Asked(str(checkpoints), options.viewer or viewing(), options.forwarded, options.port)
    server: Server | None = None
    try:
        with running.one_start_at_a_time():
            found = running.find(asked)
            if found is not None and answers(found.url):
                _say(f"Headlight is running already, at {_page(found, options)}")
                if _opens(options):
                    webbrowser.open(_page(found, options))
                return 0
            _say("Starting Headlight …")
            server = start_server(options, environment(checkpoints, viewer=options.viewer))
            wait_until_ready(server)
            running.note(asked, server.record)
        _say(f"Headlight is at {_page(server.record, options)} (Ctrl-C ends it)")
        if _opens(options):
            # A thread: some systems' browsers keep the caller waiting until their window is closed.
            threading.Thread(target=webbrowser.open, args=(_page(server.record, options),), daemon=True).start()
        while server.alive:  # on Windows, waiting for the process itself would not notice Ctrl-C
            time.sleep(0.2)
        code = server.process.returncode
        raise LaunchError(f"The server has ended by itself, with code {code}; start Headlight again.")
    finally:
        if server is not None:
            server.stop()
            running.forget(asked, server.record)
            _say(goodbye(checkpoints))


def goodbye(checkpoints: Path) -> str:
    """What is said at the end: that the server has ended, and which training goes on."""
    going = [status for status in Runs(checkpoints).statuses() if status.busy]
    if not going:
        return "Headlight has ended."
    told = listed([f"{status.name} ({progress(status)})" for status in going])
    return f"Headlight has ended. Training goes on without it: {told}. Start Headlight again to watch or stop it."


def _page(server: Running, options: Options) -> str:
    return f"{server.url}/" + (f"?{urlencode({'model': options.model})}" if options.model else "")


def _opens(options: Options) -> bool:
    return options.way != "none" and has_screen()


def has_screen() -> bool:
    """Whether a window can appear: on Linux, without a display, the "browser" would be a program in this terminal."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def _signals() -> Iterator[None]:
    """Signals that ask this command to end raise :class:`Ended`, once: the end itself is not interrupted."""

    def end(number: int, frame: object) -> None:
        for name in names:
            signal.signal(name, signal.SIG_IGN)
        raise Ended

    names = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
    before: list[tuple[int, Callable[..., object] | int | None]] = [(name, signal.signal(name, end)) for name in names]
    try:
        yield
    finally:
        for name, handler in before:
            signal.signal(name, handler)


def _say(sentence: str) -> None:
    print(sentence, flush=True)
