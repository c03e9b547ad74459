"""Which requests the server answers: by the host that they name, and by the origin of the page that sends them."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from explorer.web.security import Hosts
from tests import loop

DEFAULTS: dict[str, Any] = {
    "server.address": "localhost",
    "server.allowedHosts": [],
    "server.corsAllowedOrigins": [],
    "server.enableCORS": True,
    "browser.serverAddress": "localhost",
}
OPEN = {"server.address": "0.0.0.0"}
PROXY = {"browser.serverAddress": "headlight.example.org"}
MORE = {"server.corsAllowedOrigins": ["http://localhost:3000/"]}
LISTED = {"server.allowedHosts": ["Headlight.example.org", "*.school.example", "::1"]}


Message = dict[str, Any]
Ask = Callable[..., list[Message]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What the middleware sends under these options; nothing if it passes the request on."""

    def asked(options: dict[str, Any], *headers: tuple[str, str], path: str = "/", kind: str = "http") -> list[Message]:
        monkeypatch.setattr(st, "get_option", (DEFAULTS | options).__getitem__)
        passed, sent = list[object](), list[Message]()

        async def app(scope: object, receive: object, send: object) -> None:
            passed.append(scope)

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": kind, "path": path, "headers": [(name.encode(), value.encode()) for name, value in headers]}
        loop.run(Hosts(app)(scope, None, send))
        assert bool(passed) != bool(sent)
        return sent

    return asked


@pytest.mark.parametrize(
    ("options", "answered", "refused"),
    [
        (
            {},
            "localhost:8501 LOCALHOST localhost. 127.0.0.1:9 127.9.9.9 [::1]:8501 [0:0::1]",
            "evil.example localhost.evil.example 192.168.1.20:8501 [fe80::1] 0.0.0.0:8501 127.0.0.1.x",
        ),
        ({}, "", " . a@localhost localhost/x localhost:99999 localhost:x [::1"),
        (OPEN, "localhost 192.168.1.20:8501 [fe80::1]:8501 0.0.0.0:8501", "evil.example 192.168.1.20.evil.example"),
        ({"server.address": None}, "192.168.1.20", "evil.example"),
        ({"server.address": "192.168.1.20"}, "192.168.1.20 localhost", "evil.example"),
        ({"server.address": "teacher.local"}, "teacher.local:8501 localhost", "evil.example"),
        ({"server.address": "unix:/run/x.sock"}, "localhost", "192.168.1.20"),
        (PROXY, "headlight.example.org localhost:8501", "evil.example x.headlight.example.org"),
        ({"browser.serverAddress": "https://headlight.example.org/app"}, "headlight.example.org", "evil.example"),
        (LISTED, "headlight.example.org:443 room1.school.example [::1]", "localhost school.example xschool.example"),
        ({"server.allowedHosts": ["*"]}, "evil.example localhost", " localhost:x"),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_hosts(ask: Ask, options: dict[str, Any], answered: str, refused: str, kind: str) -> None:
    for host in answered.split():
        assert ask(options, ("host", host), kind=kind) == [], host
    for host in refused.split(" "):  # "" among them
        sent = ask(options, ("host", host), kind=kind)
        assert sent[0].get("status", 403) == 403, host
        assert sent[0]["type"] == ("websocket.close" if kind == "websocket" else "http.response.start")


def test_one_host_and_no_more(ask: Ask) -> None:
    assert ask({}) != []
    assert ask({}, ("host", "local host")) != []
    assert ask({}, ("host", "localhost"), ("host", "evil.example")) != []


@pytest.mark.parametrize(
    ("options", "host", "own", "foreign"),
    [
        (
            {},
            "localhost:8501",
            "http://localhost:8501 https://LOCALHOST:8501",
            "http://localhost:3000 http://localhost http://127.0.0.1:8501 https://evil.example null ",
        ),
        ({}, "[::1]:8501", "http://[::1]:8501", "http://[::1]:80 http://localhost:8501"),
        (
            PROXY,
            "headlight.example.org",
            "https://headlight.example.org http://headlight.example.org:80 https://headlight.example.org:8443",
            "https://evil.example https://headlight.example.org.evil.example",
        ),
        (PROXY, "127.0.0.1:8501", "https://headlight.example.org", "https://evil.example http://localhost:8501"),
        (LISTED, "room1.school.example", "https://room1.school.example", "https://room2.school.example"),
        (MORE, "localhost:8501", "http://localhost:3000", "http://localhost:3001"),
        ({"server.enableCORS": False}, "localhost:8501", "https://evil.example null", None),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_origins(ask: Ask, options: dict[str, Any], host: str, own: str, foreign: str | None, kind: str) -> None:
    for origin in own.split():
        assert ask(options, ("host", host), ("origin", origin), kind=kind) == [], origin
    for origin in [] if foreign is None else foreign.split(" "):
        assert ask(options, ("host", host), ("origin", origin), kind=kind) != [], origin


@pytest.mark.parametrize("path", ["/_stcore/health", "/base/_stcore/health"])
def test_a_probe_from_this_machine_is_answered_whatever_is_listed(ask: Ask, path: str) -> None:
    """The start and the container's check ask at localhost whether the server is up."""
    assert ask(LISTED, ("host", "localhost:8501"), path=path) == []
    assert ask(LISTED, ("host", "evil.example"), path=path) != []


@pytest.mark.parametrize(
    ("options", "headers", "told"),
    [
        ({}, {"host": "evil.example:80"}, "“evil.example”. If that is its name, start it with --browser.serverAddress"),
        (LISTED, {"host": "evil.example"}, "start it with --server.allowedHosts evil.example"),
        ({}, {"host": "localhost", "origin": "https://a.example"}, "A page of “https://a.example” sent this request"),
        ({}, {"host": "x" * 50_000}, "xxx…”"),
    ],
)
def test_the_refusal_says_what_to_set(
    ask: Ask, caplog: pytest.LogCaptureFixture, options: dict[str, Any], headers: dict[str, str], told: str
) -> None:
    with caplog.at_level(logging.WARNING, "headlight"):
        start, body = ask(options, *headers.items())
    said = body["body"].decode()
    assert told in said
    assert len(said) < 500
    assert said.strip() == caplog.messages[0], "whoever runs the server reads it, too"
    assert dict(start["headers"])[b"content-type"] == b"text/plain; charset=utf-8"
