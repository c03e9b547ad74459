"""The Markdown of lessons as HTML for files that stand by themselves: every character of text is escaped."""

from __future__ import annotations

import re
from html import escape

_CODE = re.compile(r"(`[^`\n]+`)")
_LINK = re.compile(r"\[([^\]\n]+)\]\((https?://[^\s)]+)\)")
_ITEM = re.compile(r"(?:[-*]|\d+\.)\s+(.*)")
_JOINER = "\u2060"  # what keeps addresses from becoming links on the page; a file needs none
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!$:<>|~&])")


def html_of(markdown: str) -> str:
    """Paragraphs, lists, code blocks, **strong**, *emphasis*, `code` and links to other sites."""
    blocks: list[str] = []
    lines: list[str] = []
    in_code = False
    for line in [*markdown.split("\n"), ""]:
        if line.startswith("```"):
            if in_code:
                blocks.append(f"<pre>{escape(chr(10).join(lines))}</pre>")
            elif lines:
                blocks.append(_block(lines))
            lines, in_code = [], not in_code
        elif in_code or line.strip():
            lines.append(line)
        elif lines:
            blocks.append(_block(lines))
            lines = []
    if lines:
        blocks.append(_block(lines))
    return "\n".join(blocks)


def _block(lines: list[str]) -> str:
    items = [_ITEM.fullmatch(line.strip()) for line in lines]
    if items[0] is None:
        return f"<p>{inline_html(' '.join(lines))}</p>"
    texts: list[str] = []
    for line, item in zip(lines, items, strict=True):
        if item is not None:
            texts.append(item[1])
        else:
            texts[-1] += f" {line.strip()}"
    tag = "ol" if lines[0].strip()[0].isdecimal() else "ul"
    return f"<{tag}>{''.join(f'<li>{inline_html(text)}</li>' for text in texts)}</{tag}>"


def inline_html(text: str) -> str:
    """One line of Markdown: emphasis, code and links to other sites."""
    parts = _CODE.split(text.replace(_JOINER, ""))
    return "".join(f"<code>{escape(part[1:-1])}</code>" if _CODE.fullmatch(part) else _marked(part) for part in parts)


def _marked(text: str) -> str:
    # What is escaped in Markdown is taken out of reach of the marks first, and put back at the end.
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[1])
        return f"\x00{len(kept) - 1}\x00"

    marked = escape(_ESCAPED.sub(keep, text.replace("\x00", "")))
    marked = _LINK.sub(r'<a href="\2" rel="noreferrer">\1</a>', marked)
    marked = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", marked)
    marked = re.sub(r"\*(.+?)\*", r"<em>\1</em>", marked)
    return re.sub(r"\x00(\d+)\x00", lambda found: escape(kept[int(found[1])]), marked)
