"""The security headers of every response, and access to the app."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from explorer.runs.viewer_mode import viewing
from model.user_error import UserError

FRAMES = "HEADLIGHT_FRAMES"  # sites that may embed the app in a frame, such as a school's course pages
_SITE = re.compile(r"https?://[A-Za-z0-9.*-]+(:\d{1,5})?")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9A-Fa-f:]+\](:\d{1,5})?")
_UPLOADS = "/_stcore/upload_file/"


class FramesError(UserError):
    """`HEADLIGHT_FRAMES` cannot be used; the message says why."""


def frame_sites() -> list[str]:
    """Read the sites listed in `HEADLIGHT_FRAMES`, separated by whitespace.

    Raises:
        FramesError: a site is not written as https://host.
    """
    sites = os.environ.get(FRAMES, "").split()
    for site in sites:
        if not _SITE.fullmatch(site):
            raise FramesError(f"{FRAMES} holds '{site}', which is not a site; write it as https://courses.example.org.")
    return sites


def policy(host: str, frames: Iterable[str] = ()) -> str:
    """The Content-Security-Policy for a page served under this host: the page may contact no other host.

    Streamlit draws with inline styles and starts components from blob URLs, and Vega compiles expressions; scripts
    from other hosts are blocked.
    """
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    rules = {
        "default-src": "'self'",
        "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' data: blob:",
        "connect-src": f"'self' data: blob:{sockets}",
        "worker-src": "'self' blob:",
        "frame-src": "'self' data: blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(("'self'", *frames)),
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


class SecurityHeaders:
    """ASGI middleware: headers against content sniffing, framing and calls to other hosts; no uploads for viewers."""

    def __init__(self, app: Any, frames: Sequence[str] = ()) -> None:
        self._app = app
        self._frames = frames

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass one request to Streamlit and add the headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = self._headers(scope)
        if _UPLOADS in scope["path"] and scope["method"] not in ("GET", "HEAD", "OPTIONS") and viewing():
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": b"Uploads are switched off on this server."})
            return

        async def answer(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        await self._app(scope, receive, answer)

    def _headers(self, scope: dict[str, Any]) -> list[tuple[bytes, bytes]]:
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        headers = {
            "Content-Security-Policy": policy(host, self._frames),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        }
        if not self._frames:  # older browsers know only this header, which cannot name other sites
            headers["X-Frame-Options"] = "SAMEORIGIN"
        return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def let_in() -> bool:
    """Whether the user may see the app: always, unless `.streamlit/secrets.toml` has [auth] and they are not logged in.

    If not, draws the login button.
    """
    asked = st.secrets.load_if_toml_exists() and "auth" in st.secrets
    if not asked or st.user.get("is_logged_in", False):
        return True
    st.markdown("#### Headlight")
    st.caption("This server requires a login.")
    st.button("Log in", type="primary", key="login", on_click=st.login)
    return False
