"""The exported page: it runs nothing, requests nothing, and holds the same numbers."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest

from explorer.decoding.shown_maps import ShownMaps
from explorer.files.figure_files import draw
from explorer.files.html_page import MAX_TABLE_CELLS, page_bytes
from explorer.files.map_files import maps_stem
from tests.explorer.planted import planted_trace
from tests.explorer.shown_maps import VIEWS, noisy, on_screen

# The page


class Reader(HTMLParser):
    """Collects tags, table cells and everything that could send a request to another host."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.outside: list[str] = []
        self.cells: list[str] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "td":
            self._in_cell = True
            self.cells.append("")
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action") and not (value or "").startswith(("#", "data:")):
                self.outside.append(f"{tag} {name}={value}")
            assert not name.startswith("on")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.cells[-1] += data


def page(shown: ShownMaps) -> tuple[str, Reader]:
    text = page_bytes(shown, draw(shown, "svg"), '{"text": "</pre><script>"}').decode()
    reader = Reader()
    reader.feed(text)
    return text, reader


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_runs_nothing_and_requests_nothing(view: str) -> None:
    text, reader = page(on_screen(noisy(), view))
    assert not reader.tags & {"script", "img", "link", "iframe", "object", "form", "foreignobject"}
    assert reader.outside == []
    assert "url(http" not in text
    assert "default-src 'none'" in text
    hosts = set(re.findall(r"https?://([^/\"' <]+)", text))
    assert hosts <= {"www.w3.org"}, "names of formats only"
    assert html.escape('{"text": "</pre><script>"}') in text


def test_the_pages_table_holds_the_same_numbers() -> None:
    trace = noisy()
    _, reader = page(on_screen(trace, "head", "decoder"))
    expected = []
    for query, weights in enumerate(trace.decoder[0, 0]):
        expected.append(trace.predicted_tokens[query])
        expected += ["future" if key > query else str(weight) for key, weight in enumerate(weights)]
    assert reader.cells == expected


def test_too_many_numbers_for_a_page_are_left_to_the_csv() -> None:
    size = int(MAX_TABLE_CELLS**0.5) + 1
    tokens = tuple(str(i) for i in range(size))
    text, reader = page(on_screen(planted_trace(tokens, ("<sos>",)), "head", "encoder"))
    assert "too many for a page" in text
    assert reader.cells == []


def test_file_names_are_plain() -> None:
    assert maps_stem(on_screen(noisy(), "head"), "my model/../x") == "my-model-..-x-attention-cross-l1-h1-head"
    assert maps_stem(on_screen(noisy(), "heads"), "") == "attention-cross"
