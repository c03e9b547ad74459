"""The server around the app: what happens before a page runs."""

from __future__ import annotations

import threading
from typing import Any

from explorer.web import runtime

# Pages that show a model at work; the others open without torch.
_WITH_MODEL = frozenset({"", "start", "translate", "attention", "positions", "masks", "inside", "probe"})


class WarmUp:
    """ASGI middleware: when the first browser asks for a page, start importing what that page will need.

    The browser takes a second to load Streamlit's own scripts before it asks for a run of the page. Imports that go on
    in the meantime are not waited for later. A server that nobody visits, or only for its list of runs, loads nothing.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._begun = False

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """One request, on its way to Streamlit."""
        if not self._begun and scope["type"] == "http" and scope["path"].strip("/") in _WITH_MODEL:
            self._begun = True
            threading.Thread(target=runtime.import_ahead, name="import-ahead", daemon=True).start()
        await self._app(scope, receive, send)
