"""The address bar of a tab, and typing a sentence, which changes it."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from tests.browser import settle

Visit = Callable[[str], Page]
TEXT = "I read red books"
_SAYS = """want => {
  const has = new URLSearchParams(location.search);
  return Object.entries(want).every(([name, value]) => has.get(name) === value);
}"""


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_for(page: Page, **expected: str | None) -> None:
    """Wait until the address says this; None means that a parameter must be absent."""
    page.wait_for_function(_SAYS, arg=expected)
    settle(page)


def type_sentence(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill(text)
    field.press("Enter")
    wait_for(page, text=text)
