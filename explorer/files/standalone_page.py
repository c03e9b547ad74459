"""One HTML file with the interactive views of recorded decodings: no server, no network, nothing to install.

The program and its data lie in the file compressed, as text. The policy in its head allows one script, by its hash: it
unpacks the modules and hands them to the browser. Text from outside is escaped here or set as text there.
"""

from __future__ import annotations

import base64
import hashlib
import html
import struct
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from explorer.browser import assets, wire
from explorer.browser.payload import encode
from explorer.browser.structs import Position
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding
from explorer.files import standalone_theme as theme
from explorer.locale.glossary import address_of, explain
from explorer.locale.text import printable

View = Literal["steps", "heads"]
Theme = Literal["auto", "light", "dark"]
_PACKS: dict[View, str] = {"steps": "stepper", "heads": "heads"}
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
# Nothing may be loaded; styles of the page's own are set as text, by the views too.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_LEVEL = 6  # of compression: 9 takes three times as long for one percent
# What the views link to.
_TERMS = ("attention weight", "temperature", "layer", "self-attention", "cross-attention")
ADVICE = "Attention weights show where one layer read information from. They do not say why the model decided so."


@dataclass(frozen=True, eq=False)
class Recording:
    """One decoding of a page that stands alone; decodings whose predicted ids begin alike are forks of each other.

    `text` and `detail` name it where there are several: the translation, and what is special about it. `step` is where
    it leaves the recording that it is a fork of, from 1.
    """

    decoding: Decoding
    text: str = ""
    detail: str = ""
    step: int = 1


def page(
    recordings: Sequence[Recording],
    place: Place,
    *,
    title: str,
    facts: Sequence[str] = (),
    at: int = 0,
    view: View = "steps",
    options: str = "",
    digits: int | None = None,
    theme_name: Theme = "auto",
    index: str = "",
) -> bytes:
    """The file. It opens with recording `at`, at a place in it; `options` are those of the views of heads.

    `facts` are sentences below the views, `index` is the address of a page that leads to this one. Without
    cross-attention in the recordings, there are only the views of heads. With `digits`, weights are rounded to so many
    decimals, at most 4.

    Raises:
        ValueError: a weight is not a number.
    """
    crossing = all(one.decoding.trace.cross.size for one in recordings)
    views: list[View] = ["steps", "heads"] if crossing else ["heads"]
    about: dict[str, Any] = {
        "views": views,
        "view": view if view in views else views[0],
        "at": at,
        "place": asdict(Position.of(place, options or "heads")),
        "terms": {address_of(term): [entry.term, entry.plain, entry.explanation] for term, entry in _terms()},
        "recordings": [
            {
                "seq": one.decoding.seq,
                "text": printable(one.text),
                "detail": printable(one.detail),
                "step": one.step,
                "forks": forks,
            }
            for one, forks in zip(recordings, forks_of(recordings), strict=True)
        ],
    }
    messages = {
        f"{i}": np.frombuffer(encode(one.decoding, digits=digits), np.uint8) for i, one in enumerate(recordings)
    }
    least = f"{0.5 * 10 ** -(digits or 0):.{(digits or 0) + 1}f}"
    remarks = [f"Weights are rounded to {digits} decimals; 0 stands for less than {least}."] if digits else []
    return _document(title, [*facts, *remarks, ADVICE], views, wire.write(about, messages), theme_name, index)


def forks_of(recordings: Sequence[Recording]) -> list[list[dict[int, int]]]:
    """For each recording and row: which recording continues from another token, by that token's id."""
    forks: list[list[dict[int, int]]] = [[{} for _ in one.decoding.trace.read_tokens] for one in recordings]
    paths = [one.decoding.predicted_ids for one in recordings]
    for i, path in enumerate(paths):
        for j, other in enumerate(paths):
            pairs = enumerate(zip(path, other, strict=False))
            row = next((row for row, (mine, its) in pairs if mine != its), None)
            if row is not None and row < len(forks[i]):
                forks[i][row].setdefault(other[row], j)
    return forks


def _terms() -> list[tuple[str, Any]]:
    return [(term, explain(term)) for term in _TERMS]


def _document(
    title: str, facts: Sequence[str], views: Sequence[View], data: bytes, theme_name: Theme, index: str
) -> bytes:
    boot, code = assets.text("standalone_boot.js"), assets.standalone(tuple(_PACKS[view] for view in views))
    packed = base64.b64encode(zlib.compress(struct.pack("<I", len(code)) + code + data, _LEVEL)).decode()
    policy = f"{_POLICY}; script-src {_hash(boot)} blob:"
    chosen = "" if theme_name == "auto" else f' data-theme="{theme_name}"'
    words = html.escape(printable(title))
    back = f'<a href="{html.escape(index)}">← All examples</a>' if index else ""
    return f"""<!DOCTYPE html>
<html lang="en"{chosen}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{words}</title>
<style>{theme.style()}{assets.style("standalone")}</style>
</head>
<body>
<header>
<div>{back}<h1><bdi>{words}</bdi></h1><p id="text" dir="auto"></p></div>
<div id="views" role="group" aria-label="View" hidden></div>
<button type="button" id="theme" hidden></button>
</header>
<ol id="paths" aria-label="Recorded translations" hidden></ol>
<main id="view"></main>
<p id="failed" role="alert" hidden></p>
<noscript><p>This page draws its figures with JavaScript, which is switched off in this browser.</p></noscript>
<footer>{"".join(f"<p>{html.escape(printable(fact))}</p>" for fact in facts)}</footer>
<div id="tip" popover="manual" role="tooltip"><p><b></b> <span></span></p><p></p></div>
<script type="text/plain" id="packed">{packed}</script>
<script type="module">{boot}</script>
</body>
</html>
""".encode()


def _hash(script: str) -> str:
    """How the policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
