"""Reading the project's Markdown: links, anchors and blocks of code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block of code; `excuse` says why its commands are not run by a test, empty if they are."""

    document: str
    language: str
    text: str
    excuse: str


def links(text: str) -> list[str]:
    found = []
    for token in _tokens(text):
        address = token.attrs.get("href") or token.attrs.get("src")
        if address:
            found.append(str(address))
    return found


def pictures(text: str) -> list[tuple[str, str]]:
    return [(str(token.attrs["src"]), token.content) for token in _tokens(text) if token.type == "image"]


def headings(text: str) -> list[str]:
    """The headings of a document as plain text."""
    return [
        "".join(child.content for child in following.children or ())
        for token, following in pairwise(_parsed(text))
        if token.type == "heading_open"
    ]


def github_anchor(heading: str) -> str:
    """The anchor that code hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def site_anchor(heading: str) -> str:
    """The anchor that MkDocs gives a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def blocks(path: Path, language: str) -> Iterator[Block]:
    previous = ""
    for token in _parsed(path.read_text(encoding="utf-8")):
        if token.type == "fence" and token.info == language:
            excuse = _NOT_RUN.fullmatch(previous)
            yield Block(path.name, language, token.content, excuse[1] if excuse else "")
        previous = token.content.strip() if token.type == "html_block" else ""


@cache
def _parsed(text: str) -> list[Token]:
    return _PARSER.parse(text)


def _tokens(text: str) -> Iterator[Token]:
    for token in _parsed(text):
        yield token
        yield from token.children or ()
