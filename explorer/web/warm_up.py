"""What the server does before a page runs: importing ahead of time, and sharing Python fairly between visitors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import perf_counter, sleep
from typing import Any

from model import faults

Send = Callable[[dict[str, Any]], Awaitable[None]]

# Pages that run a model; the others open without torch.
_WITH_MODEL = frozenset({"", "start", "translate", "attention", "positions", "masks", "inside", "probe"})
# A thread that has sent a message, or left Python for torch, waits this long for its turn while another computes. With
# Python's 5 ms, a page of seventy messages takes long for everybody as soon as somebody's sentence is translated.
SWITCH_SECONDS = 0.0005
REST_SECONDS = 1.0  # from the end of the first run: the browser is drawing its page


class WarmUp:
    """ASGI middleware: when the first browser requests a page, start importing what that page will need.

    The browser takes a second to load Streamlit's own scripts before it requests a run of the page. Imports that
    run in the meantime cost no waiting time later. What is done `later` follows when the first page has been drawn.
    A server that has no visitors, or visitors only to its list of runs, imports only `frame`: what all pages share.
    It does so once it answers, while whoever started it opens a browser.
    """

    def __init__(
        self, app: Any, frame: Callable[[], None] = lambda: None, later: Sequence[Callable[[], None]] = ()
    ) -> None:
        self._app, self._frame, self._later = app, frame, later
        self._begun = False
        sys.setswitchinterval(SWITCH_SECONDS)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request to Streamlit; the first for a page with a model starts the imports."""
        if scope["type"] == "lifespan":
            send = self._watching(send)
        elif not self._begun and scope["type"] == "http" and scope["path"].strip("/") in _WITH_MODEL:
            self._begun = True
            _in_background(self._begin, "import-ahead")
        await self._app(scope, receive, send)

    def _watching(self, send: Send) -> Send:
        """What sends the server's messages, and starts the import of the frame once the server is up."""

        async def sent(message: dict[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                _in_background(self._frame, "import-frame")

        return sent

    def _begin(self) -> None:
        from explorer.web import runtime

        runtime.after_first_run(partial(get_ready, self._later))
        runtime.import_ahead()


def _in_background(work: Callable[[], None], name: str) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


def get_ready(parts: Sequence[Callable[[], None]], rest: float = REST_SECONDS) -> None:
    """Import what other pages need and read what they show first, one part after the other.

    Half of the time is rest: visitors go first.
    """
    from explorer.web import runtime

    sleep(rest)
    for part in parts:
        start = perf_counter()
        with runtime.quick_imports():
            try:
                part()
            except Exception as fault:  # the page itself will say what is wrong, to whoever opens it
                faults.report(fault)
            runtime.freeze()
        sleep(perf_counter() - start)
