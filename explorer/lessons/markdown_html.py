"""The Markdown of lessons as HTML for files that stand by themselves; raw HTML is always shown as text."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

_HTTP = re.compile(r"https?://", re.IGNORECASE)
_JOINER = "\u2060"  # keeps addresses from becoming links on the page (explorer/locale/text.py); a file does not need it


def _fence(
    renderer: RendererProtocol, tokens: Sequence[Token], i: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return f"<pre>{escape(tokens[i].content.rstrip())}</pre>\n"


def _link_open(
    renderer: RendererProtocol, tokens: Sequence[Token], i: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return f'<a href="{escape(str(tokens[i].attrGet("href")))}" rel="noreferrer">'


def _parser() -> MarkdownIt:
    """Paragraphs, lists, fenced code, strong, emphasis, code spans and links; no HTML, images or other schemes."""
    parser = MarkdownIt("zero", {"html": False}).enable(["list", "fence", "backticks", "emphasis", "link", "escape"])
    parser.validateLink = lambda url: _HTTP.match(url) is not None  # type: ignore[method-assign]
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("link_open", _link_open)
    return parser


_MARKDOWN = _parser()


def html_of(markdown: str) -> str:
    """Blocks of Markdown as HTML."""
    rendered: str = _MARKDOWN.render(markdown.replace(_JOINER, ""))
    return rendered.rstrip("\n")


def inline_html(text: str) -> str:
    """One line of Markdown as HTML, without a paragraph around it."""
    rendered: str = _MARKDOWN.renderInline(text.replace(_JOINER, ""))
    return rendered
