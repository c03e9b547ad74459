"""The index of a folder of pages: models with their examples, as a plain page without scripts."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from explorer.browser import assets
from explorer.decoding.model_summary import story
from explorer.files import standalone_theme as theme
from explorer.files.site_recorded import Example
from explorer.files.standalone_page import ADVICE
from explorer.locale.text import plural, printable

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def index_page(groups: Sequence[tuple[dict[str, Any], Sequence[Example]]]) -> bytes:
    """The page; each group is a model's summary and its examples."""
    sections = "\n".join(_section(summary, examples) for summary, examples in groups)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>What a translator looks at</title>
<style>{theme.style()}{assets.style("site")}</style>
</head>
<body>
<main>
<h1>What a translator looks at</h1>
<p>Small translation models, recorded while they translate. Each page steps through one sentence: which words the model
looks at for every word that it writes, head by head, and what it would have written instead.</p>
{sections}
</main>
<footer><p>{html.escape(ADVICE)}</p><p>Made with Headlight. These pages load nothing and send nothing.</p></footer>
</body>
</html>
""".encode()


def _section(summary: dict[str, Any], examples: Sequence[Example]) -> str:
    items = "\n".join(_item(example) for example in examples)
    name, about = html.escape(printable(str(summary["name"]))), html.escape(printable(story(summary)))
    return f"<section>\n<h2>{name}</h2>\n<p>{about}</p>\n<ul>\n{items}\n</ul>\n</section>"


def _item(example: Example) -> str:
    source, text = (html.escape(printable(words)) for words in (example.source, example.text))
    forks = f" <small>{plural(example.n_forks, 'other continuation')}</small>" if example.n_forks else ""
    link = html.escape(quote(example.file))
    return f'<li><a href="{link}"><bdi>{source}</bdi></a> <span>→ <bdi>{text}</bdi></span>{forks}</li>'
