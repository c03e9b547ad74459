"""Access to the app: the host names that it answers to, origins, security headers, frames, login, viewer mode."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, MutableMapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from explorer.locale.messages import t
from explorer.runs.viewer_mode import viewing
from model.user_error import UserError, readable

FRAMES = "HEADLIGHT_FRAMES"  # sites that may embed the app in a frame, such as a school's course pages
_SITE = re.compile(r"https?://[A-Za-z0-9.*-]+(:\d{1,5})?")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9A-Fa-f:]+\](:\d{1,5})?")
_UPLOADS = "/_stcore/upload_file/"
_HEALTH = "/_stcore/health"
_MOST_LOGGED = 20
_PORTS = {"http": 80, "https": 443}
_log = logging.getLogger("headlight")


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
            raise FramesError(
                "{frames} holds '{site}', which is not a site; write it as https://courses.example.org.",
                frames=FRAMES,
                site=site,
            )
    return sites


def site_of(address: str) -> str:
    """The site of a page, such as https://courses.example.org; "" if the text is no web address.

    Without a scheme, https is assumed, as browsers do.
    """
    text = address.strip()
    parts = _parts(text if "://" in text else f"https://{text}")
    if parts is None or parts.scheme not in _PORTS or "@" in parts.netloc:
        return ""
    site = f"{parts.scheme}://{(parts.hostname or '')}" + (f":{parts.port}" if parts.port else "")
    return site if _SITE.fullmatch(site) and "*" not in site else ""


def lets_in(site: str, sites: Iterable[str]) -> bool:
    """Whether pages of `site` may show the app in a frame if `sites` are allowed; as browsers match `frame-ancestors`.

    A site allowed with http is allowed with https as well, and `*.` stands for one or more names, not for none.
    """
    return any(_matches(urlsplit(site), urlsplit(allowed)) for allowed in sites)


def _matches(site: SplitResult, allowed: SplitResult) -> bool:
    host, pattern = site.hostname or "", allowed.hostname or ""
    if allowed.scheme not in (site.scheme, "http"):
        return False
    if not (pattern == host or pattern == "*" or (pattern.startswith("*.") and host.endswith(pattern[1:]))):
        return False
    port = site.port or _PORTS[site.scheme]
    return port in ({allowed.port} if allowed.port else {_PORTS[allowed.scheme], _PORTS[site.scheme]})


def policy(host: str, frames: Iterable[str] = ()) -> str:
    """The Content-Security-Policy of a page served under this host, which may contact no other host.

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
    """ASGI middleware: adds headers against sniffing, framing and calls to other hosts; refuses viewers' uploads."""

    def __init__(self, app: Any, frames: Sequence[str] = ()) -> None:
        self._app = app
        self._frames = frames

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request to Streamlit, and add the headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = self._headers(Headers(scope=scope).get("host", ""))
        if _UPLOADS in scope["path"] and scope["method"] not in ("GET", "HEAD", "OPTIONS") and viewing():
            refusal = PlainTextResponse("Uploads are switched off on this server.", 403, headers)
            await refusal(scope, receive, send)
            return

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self._app(scope, receive, answer)

    def _headers(self, host: str) -> dict[str, str]:
        headers = {
            "Content-Security-Policy": policy(host, self._frames),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        }
        if not self._frames:  # older browsers know only this header, which cannot name other sites
            headers["X-Frame-Options"] = "SAMEORIGIN"
        return headers


def let_in() -> bool:
    """Whether the user may see the app: always, unless `.streamlit/secrets.toml` has [auth] and they are not logged in.

    If not, draws the login button.
    """
    login_required = st.secrets.load_if_toml_exists() and "auth" in st.secrets
    if not login_required or st.user.get("is_logged_in", False):
        return True
    st.markdown("#### Headlight")
    st.caption(t("This server requires a login."))
    st.button(t("Log in"), type="primary", key="login", on_click=st.login)
    return False


def closed(message: str) -> bool:
    """Whether this server is in viewer mode; if so, the page shows `message`, which says what is switched off."""
    if viewing():
        st.caption(message)
    return viewing()


class Hosts:
    """ASGI middleware that answers only requests for the server's own names, and from pages of its own origin.

    A page of `evil.example` can resolve that name to 127.0.0.1 (DNS rebinding). The browser then takes this server for
    the page's own site and lets the page control it; only the request's `Host` reveals it. The port is not compared,
    because proxies change it. An `Origin` must be the host of the request, or one that the server was configured with.

    The server's names are `localhost`, loopback addresses, and the names in `server.address` and
    `browser.serverAddress`; if the server is bound beyond loopback, also IP addresses, which no name server can
    redirect. A list in `server.allowedHosts` replaces them all, as it does for Streamlit's WebSocket.

    Streamlit's `server.allowedHosts` covers only its WebSocket; Starlette's TrustedHostMiddleware reads no IPv6
    addresses and no origins, and its refusal cannot say what to set.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        listed = [_name(name.strip()) for name in st.get_option("server.allowedHosts")]
        address = (st.get_option("server.address") or "").lower()
        public = _name(st.get_option("browser.serverAddress"))
        self._names = (set(listed) or {"localhost", address, public}) - {""}
        self._loopback = not listed
        self._any_address = not listed and not (address.startswith("unix:") or _is_local(address))
        self._setting = "--server.allowedHosts" if listed else "--browser.serverAddress"
        # "localhost" is Streamlit's default for the public name; it does not make an origin the server's own.
        self._public = "" if _is_local(public) else public
        self._origins = {origin.strip().rstrip("/") for origin in st.get_option("server.corsAllowedOrigins")}
        self._any_origin = not st.get_option("server.enableCORS")  # Streamlit's own switch for letting everybody in
        self._logged: set[str] = set()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it with a sentence that says which option to set."""
        refusal = self._refusal(scope) if scope["type"] in ("http", "websocket") else ""
        if not refusal:
            await self._app(scope, receive, send)
            return
        if refusal not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(refusal)
            _log.warning(refusal)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # not accepted yet, so that the answer is 403
            return
        await PlainTextResponse(f"{refusal}\n", 403, {"X-Content-Type-Options": "nosniff"})(scope, receive, send)

    def _refusal(self, scope: dict[str, Any]) -> str:
        """The sentence with which a request is refused; empty if it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = _parts(hosts[0]) if len(hosts) == 1 else None
        name = _name(host.netloc) if host is not None else ""
        if host is None or not name or "@" in host.netloc or host.path or host.query or host.fragment:
            return "This server answers only requests that name its host."
        is_own_probe = scope["path"].endswith(_HEALTH) and _is_local(name)
        if not (is_own_probe or self._answers_to(name)):
            return (
                f"This server does not answer to the name “{readable(name)}”. If that is its name, start it with "
                f"{self._setting} {readable(name)}"
            )
        foreign = next((origin for origin in headers.getlist("origin") if not self._is_own(origin, host)), None)
        if foreign is not None:
            return (
                f"A page of “{readable(foreign)}” sent this request, and only this server's own pages may. If that is "
                f"the server's public address, start it with --browser.serverAddress and its name."
            )
        return ""

    def _answers_to(self, name: str) -> bool:
        if (self._loopback and _is_local(name)) or (self._any_address and _is_address(name)):
            return True
        below = any(pattern.startswith("*.") and name.endswith(pattern[1:]) for pattern in self._names)
        return below or name in self._names or "*" in self._names

    def _is_own(self, origin: str, host: SplitResult) -> bool:
        """Whether an origin is the request's host, with its port, or one that the server was configured with."""
        if self._any_origin or origin in self._origins or (self._public and _name(origin) == self._public):
            return True
        parts = _parts(origin)
        if parts is None or _name(origin) != _name(host.netloc):
            return False
        usual = _PORTS.get(parts.scheme)
        return (parts.port or usual) == (host.port or usual)


def _parts(address: str) -> SplitResult | None:
    """The parts of `host`, `host:port` or `scheme://host:port`; None if it is none of them."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        _ = parts.port  # raises ValueError if it is not a port
        return parts if parts.hostname else None
    except ValueError:
        return None


def _name(address: str) -> str:
    """The host's name in the form in which names are compared: lower case, without port and final dot."""
    if _is_address(address):  # an IPv6 address without brackets, as a setting may have it
        return address
    parts = _parts(address)
    return (parts.hostname or "").rstrip(".") if parts is not None else ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_local(name: str) -> bool:
    """Whether a name resolves to this machine everywhere."""
    return name == "localhost" or (_is_address(name) and ip_address(name).is_loopback)
