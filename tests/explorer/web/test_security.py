"""The headers of each response, frames on pages of a course, uploads in viewer mode, and the login."""

import html
import re
import runpy
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs.viewer_mode import VARIABLE
from explorer.web.embedding import frame_code, obstacle
from explorer.web.security import FRAMES, SecurityHeaders, frame_sites, lets_in, policy, site_of
from tests import loop
from tests.paths import ROOT


def answered(path: str = "/", *, method: str = "GET", host: str = "localhost:8501") -> tuple[int, dict[str, str]]:
    sent: list[dict[str, Any]] = []

    async def app(scope: dict[str, Any], receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"page"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [(b"host", host.encode())]}
    loop.run(SecurityHeaders(app, frame_sites())(scope, None, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers


def rules(headers: dict[str, str]) -> dict[str, list[str]]:
    parts = (rule.split() for rule in headers["content-security-policy"].split("; "))
    return {name: values for name, *values in parts}


def test_every_response_says_what_a_page_may_do() -> None:
    status, headers = answered()
    found = rules(headers)
    said = {"content-type": "text/html", "x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN"}
    assert status == 200
    assert (said | {"referrer-policy": "same-origin"}).items() <= headers.items()
    assert [found[name] for name in ("default-src", "frame-ancestors", "object-src")] == [["'self'"]] * 2 + [["'none'"]]
    assert found["connect-src"][-2:] == ["ws://localhost:8501", "wss://localhost:8501"]
    assert not [value for values in found.values() for value in values if "*" in value or value in ("http:", "https:")]


@pytest.mark.parametrize("host", ["evil.example; script-src *", "a b", "", "x'y", "[::1]; x"])
def test_an_invalid_host_adds_nothing(host: str) -> None:
    assert policy(host) == policy("")
    assert "ws:" not in policy(host)


def test_a_course_page_may_frame_it_where_the_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FRAMES, "https://courses.example.org https://other.example.org:8443")
    _, headers = answered()
    sites = ["https://courses.example.org", "https://other.example.org:8443"]
    assert rules(headers)["frame-ancestors"] == ["'self'", *sites]
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    ("site", "allowed", "expected"),
    [
        ("https://courses.example.org", "https://courses.example.org", True),
        ("https://courses.example.org", "http://courses.example.org", True),  # browsers allow the safer scheme
        ("http://courses.example.org", "https://courses.example.org", False),
        ("https://a.b.example.org", "https://*.example.org", True),
        ("https://example.org", "https://*.example.org", False),
        ("https://evil-example.org", "https://*.example.org", False),
        ("https://courses.example.org:8443", "https://courses.example.org", False),
        ("https://courses.example.org:443", "https://courses.example.org", True),
        ("https://courses.example.org:8443", "https://courses.example.org:8443", True),
        ("https://courses.example.org", "https://courses.example.org:8443", False),
        ("https://other.example", "https://*", True),
    ],
)
def test_which_course_may_frame_it_is_decided_as_browsers_do(site: str, allowed: str, expected: bool) -> None:
    """The rules of `frame-ancestors` (Content Security Policy Level 3, matching a host source)."""
    assert lets_in(site, ["https://unrelated.example", allowed]) is expected
    assert not lets_in(site, [])


@pytest.mark.parametrize(
    ("typed", "site"),
    [
        (" https://Moodle.School.example/course/view.php?id=3#x ", "https://moodle.school.example"),
        ("moodle.school.example/course", "https://moodle.school.example"),
        ("http://localhost:8080/x", "http://localhost:8080"),
        ("", ""),
        ("my course", ""),
        ("javascript:alert(1)", ""),
        ("ftp://files.example", ""),
        ("https://user@evil.example", ""),
        ("https://*.example.org", ""),
        ("https://a.example:99999", ""),
        ("https://a.example; script-src *", ""),
    ],
)
def test_the_site_of_an_address_that_somebody_typed(typed: str, site: str) -> None:
    assert site_of(typed) == site


@pytest.mark.parametrize("sites", ["everybody;", "javascript:alert(1)", "https://courses.example.org x" + "y" * 10_000])
def test_a_site_that_is_none_ends_the_start_with_a_sentence(monkeypatch: pytest.MonkeyPatch, sites: str) -> None:
    monkeypatch.setenv(FRAMES, sites)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "app.py"), run_name="app")
    assert re.fullmatch(
        r"HEADLIGHT_FRAMES holds '.{1,200}', which is not a site; write it as https://\S+", ended.value.code
    )


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_viewers_upload_nothing(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    path = "/base/_stcore/upload_file/session/file"
    assert answered(path, method=method)[0] == 200
    monkeypatch.setenv(VARIABLE, "1")
    status, headers = answered(path, method=method)
    assert status == 403
    assert headers["x-content-type-options"] == "nosniff"
    assert answered(path)[0] == 200
    assert answered("/_stcore/health", method=method)[0] == 200


@pytest.mark.parametrize("auth", [True, False])
def test_with_auth_configured_nobody_sees_anything_before_the_login(auth: bool) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if auth:
        at.secrets["auth"] = {"client_id": "x", "client_secret": "y", "cookie_secret": "z"}
    for page in ("pages/translate.py", "pages/runs.py"):
        at.switch_page(page).run()
        assert not at.exception
        assert ([button.label for button in at.button] == ["Log in"]) == auth
        assert bool(at.get("bidi_component")) != auth
        assert not (auth and at.selectbox)


COURSE, SERVER = "https://courses.example.org", "https://headlight.example.org/attention"


def source(code: str) -> str:
    (found,) = re.findall(r'src="([^"]*)"', code)
    return html.unescape(found)


@pytest.mark.parametrize("field", [False, True])
def test_the_code_shows_the_same_view_whatever_somebody_typed(field: bool) -> None:
    typed = '"><script>alert(1)</script>&b=a+b #x'
    code = frame_code(SERVER, {"model": "reverse", "text": typed, "step": "2"}, field=field)
    assert (code.count("<"), code.count(">"), code.count('"')) == (2, 2, 12)
    address = urlsplit(source(code))
    assert (address.netloc, address.path) == ("headlight.example.org", "/attention")
    expected = {"model": ["reverse"], "text": [typed], "step": ["2"], "embed": ["true"]}
    assert parse_qs(address.query) == expected | ({"field": ["yes"]} if field else {})


def test_the_first_page_has_a_path() -> None:
    assert source(frame_code("http://localhost:8501", {}, field=False)) == "http://localhost:8501/?embed=true"


@pytest.mark.parametrize(
    ("site", "own", "sites", "why"),
    [
        (COURSE, SERVER, [COURSE], ""),
        (COURSE, SERVER, [], "does not let pages of https://courses.example.org"),
        ("https://headlight.example.org", SERVER, [], ""),  # its own pages always may
        (COURSE, "http://10.0.0.5:8501/", [COURSE], "page of http in a page of https"),
        ("http://courses.example.org", "http://10.0.0.5:8501/", ["http://courses.example.org"], ""),
        (COURSE, "http://localhost:8501/", [COURSE], "Only this computer"),
        (COURSE, "http://[::1]:8501/", [COURSE], "Only this computer"),
        ("http://127.0.0.1:9000", "http://localhost:8501/", ["http://127.0.0.1:9000"], ""),  # a page on this computer
    ],
)
def test_what_stands_in_the_way_is_said(site: str, own: str, sites: list[str], why: str) -> None:
    assert (why in obstacle(site, own, sites)) if why else obstacle(site, own, sites) == ""
