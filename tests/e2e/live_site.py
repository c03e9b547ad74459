"""The site whose pages compute the models, on a server, and what its tests do there."""

import functools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translator
from model.checkpoint import load_model
from tests.paths import CHECKPOINTS, ROOT

# As docs/hosting.md sets them for nginx.
NGINX = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
HEADERS = dict(re.findall(r'add_header ([\w-]+) "(.+)";', NGINX))
((STORED, CACHE),) = re.findall(r'"~(.+)" +"(.+)";', NGINX)


class Quiet(SimpleHTTPRequestHandler):
    asked: ClassVar[list[str]] = []  # what was asked for, as the first lines of requests

    def end_headers(self) -> None:
        """Add the headers that the documentation recommends."""
        path = urlsplit(self.path).path
        self.send_header("Cache-Control", CACHE if re.search(STORED, path) else "no-cache")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *words: object) -> None:
        self.asked.append(str(words[1]))


@contextmanager
def served(root: Path) -> Iterator[str]:
    """The address of a server that has nothing but the files of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@functools.cache
def translator(name: str) -> Translator:
    return Translator(load_model(CHECKPOINTS / name))


def visit(page: Page, address: str, /, **query: str) -> None:
    page.goto(f"{address}?{urlencode(query)}")
    answered(page)


def answered(page: Page) -> None:
    """Wait until the page has computed what it was asked."""
    expect(page.locator(".desk:not(.busy) .opened")).to_be_visible()
