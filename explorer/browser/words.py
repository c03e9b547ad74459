"""The messages of the browser's code and markup, and the catalogue with which a page writes them in a language."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

from explorer.browser.structs import Words
from explorer.locale.catalogue import in_digits_of, pack
from explorer.locale.language import ENGLISH, current

_HERE = Path(__file__).parent
LABELS = ("aria-label", "placeholder", "title")
"""Attributes of the markup that people read; js/markup.js has the same."""
# A call with its message, or its two messages. Babel's extractor does not find a call within the fields of another one.
_CALL = re.compile(r'(?<![\w$])(?<!\w\.)(?:t|pieces)\(\s*("(?:[^"\\\n]|\\.)*")(?:,\s*("(?:[^"\\\n]|\\.)*"))?')


def in_script(text: str) -> Iterator[tuple[str, str | None]]:
    """The messages of a module, each with its plural if it counts something."""
    for one, several in _CALL.findall(text):
        yield json.loads(one), json.loads(several) if several else None


def markup(name: str) -> str:
    """A file of html/ with the buttons of a player where it has a comment in their place."""
    text, player = ((_HERE / "html" / f"{file}.html").read_text(encoding="utf-8") for file in (name, "player"))
    return text.replace("<!-- player -->", player)


def in_markup(text: str) -> list[str]:
    """The texts and labels of a component's markup, without spaces around them."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(value for name, value in attrs if name in LABELS and value)

        def handle_data(self, data: str) -> None:
            found.append(data.strip())

    Reader().feed(text)
    return [each for each in found if any(letter.isalpha() for letter in each)]


@functools.cache
def messages() -> dict[str, tuple[tuple[str, str | None], ...]]:
    """The messages by the file that they stand in, below explorer/browser."""
    scripts = {file: in_script(file.read_text(encoding="utf-8")) for file in sorted(_HERE.glob("js/**/*.js"))}
    texts = {
        file: ((text, None) for text in in_markup(markup(file.stem))) for file in sorted(_HERE.glob("html/*.html"))
    }
    return {file.relative_to(_HERE).as_posix(): tuple(found) for file, found in (scripts | texts).items()}


def catalogue(files: Iterable[str], code: str | None = None) -> Words | None:
    """The translated messages of these files, by default in the current language; None for English."""
    code = code or current()
    if code == ENGLISH:
        return None
    translated = pack(code).messages
    found = {message for file in files for message, _ in messages().get(file, ())}
    return Words(
        language=code,
        decimal=in_digits_of(code, "."),
        messages={
            message: forms if isinstance(forms, str) else list(forms)
            for message in sorted(found)
            if (forms := translated.get(message)) is not None
        },
    )
