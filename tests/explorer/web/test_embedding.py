"""The code of a frame, and whether a course may show it; a browser shows one in tests/e2e/test_serving.py."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from explorer.web.embedding import frame_code, obstacle

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
