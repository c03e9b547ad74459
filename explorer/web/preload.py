"""Have the browser fetch the code of a page's first figure while it still loads Streamlit's own."""

from __future__ import annotations

from typing import Any

from explorer.browser import assets


class Preload:
    """ASGI middleware: an answer that is a page names the pack that the page needs first, in a `Link` header."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request on, and add the header to an answer that is a page."""
        page = scope.get("path", "").rpartition("/")[2]
        entry = assets.FIRST.get(page)
        if scope["type"] != "http" or entry is None:
            await self._app(scope, receive, send)
            return

        async def answer(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                # Relative, as a proxy may serve the app under another path.
                links = [f"<./{assets.address(name)}>; rel=preload; as=fetch; crossorigin" for name in ("frame", entry)]
                message = {**message, "headers": [*message["headers"], (b"link", ", ".join(links).encode())]}
            await send(message)

        await self._app(scope, receive, answer)


def _is_page(message: dict[str, Any]) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in message.get("headers", ()))
