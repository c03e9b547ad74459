"""One HTML file with the interactive views of recorded decodings: no server, no network, nothing to install.

The program and its data lie in the file compressed, as text. The policy in its head allows one script, by its hash: it
unpacks the modules and hands them to the browser. Text from outside is escaped here or set as text there.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from explorer.browser import assets, wire
from explorer.browser.payload import encode
from explorer.browser.structs import Position, RecordingHeader, StandaloneHeader, StandaloneView
from explorer.charts.palette import THEME
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding
from explorer.decoding.view_options import parse_view
from explorer.files.html_page import document
from explorer.locale.glossary import address_of, explain
from explorer.locale.text import printable

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation

Theme = Literal["auto", "light", "dark"]
_PACKS: dict[StandaloneView, str] = {"steps": "stepper", "heads": "heads"}
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
# Nothing may be loaded; styles of the page's own are set as text, by the views too.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_RED = {"light": "#b00020", "dark": "#ff8a8a"}
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
    view: StandaloneView = "steps",
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
    views: list[StandaloneView] = ["steps", "heads"] if crossing else ["heads"]
    about = StandaloneHeader(
        views=views,
        view=view if view in views else views[0],
        at=at,
        place=Position(**vars(place), options=parse_view(options)),
        terms={
            address_of(term): (entry.term, entry.plain, entry.explanation)
            for term, entry in ((term, explain(term)) for term in _TERMS)
        },
        recordings=[
            RecordingHeader(one.decoding.seq, printable(one.text), printable(one.detail), max(one.step, 1), forks)
            for one, forks in zip(recordings, forks_of(recordings), strict=True)
        ],
    )
    first, *others = (encode(one.decoding, digits=digits) for one in recordings)
    packed = [first, *(wire.difference(other, first) for other in others)]
    messages = {f"{i}": np.frombuffer(message, np.uint8) for i, message in enumerate(packed)}
    least = f"{0.5 * 10 ** -(digits or 0):.{(digits or 0) + 1}f}"
    remarks = [f"Weights are rounded to {digits} decimals; 0 stands for less than {least}."] if digits else []
    return _document(title, [*facts, *remarks, ADVICE], views, wire.write(vars(about), messages), theme_name, index)


def translation_page(
    recordings: Sequence[Recording],
    *,
    shown: Translation,
    place: Place,
    view: StandaloneView = "steps",
    options: str = "",
    facts: Sequence[str] = (),
    index: str = "",
) -> bytes:
    """The page of one sentence: all `recordings` are of it, the model's own first, and it opens with `shown`.

    Of recordings with the same path, the first is kept. The other arguments are those of :func:`page`.
    """
    different: dict[tuple[int, ...], Recording] = {}
    for recording in [*recordings, Recording(shown, shown.text, "the path that was on screen")]:
        different.setdefault(recording.decoding.path, recording)
    about = f"Translated by the model {shown.model}."
    if shown.trace.edits:
        about += f" Heads were changed: {'; '.join(shown.trace.edits)}."
    return page(
        list(different.values()),
        place,
        title=shown.source.text,
        facts=[about, *facts],
        at=list(different).index(shown.path),
        view=view,
        options=options,
        index=index,
    )


def forks_of(recordings: Sequence[Recording]) -> list[list[dict[int, int]]]:
    """For each recording and row: which recording continues from another token, by that token's id."""
    forks: list[list[dict[int, int]]] = [[{} for _ in one.decoding.trace.read_tokens] for one in recordings]
    paths = [one.decoding.path for one in recordings]
    for i, path in enumerate(paths):
        for j, other in enumerate(paths):
            pairs = enumerate(zip(path, other, strict=False))
            row = next((row for row, (mine, its) in pairs if mine != its), None)
            if row is not None and row < len(forks[i]):
                forks[i][row].setdefault(other[row], j)
    return forks


def _document(
    title: str, facts: Sequence[str], views: Sequence[StandaloneView], data: bytes, theme_name: Theme, index: str
) -> bytes:
    boot, code = assets.text("standalone_boot.js"), assets.standalone(tuple(_PACKS[view] for view in views))
    packed = base64.b64encode(zlib.compress(struct.pack("<I", len(code)) + code + data, _LEVEL)).decode()
    words = html.escape(printable(title))
    back = f'<a href="{html.escape(index)}">← All examples</a>' if index else ""
    body = f"""<header>
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
<script type="module">{boot}</script>"""
    style = theme_style() + assets.style("standalone")
    policy = f"{_POLICY}; script-src {_hash(boot)} blob:"
    theme = "" if theme_name == "auto" else theme_name
    return document(printable(title), body, style=style, policy=policy, theme=theme)


def _hash(script: str) -> str:
    """How the policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@functools.cache
def theme_style() -> str:
    """Rules that set the variables: by the browser's wish, or by the attribute `data-theme` of the root element."""
    light, dark = (_variables(name) for name in ("light", "dark"))
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
    )


def _variables(name: str) -> str:
    colours = THEME[name]
    values = {
        "background-color": colours["backgroundColor"],
        "secondary-background-color": colours["secondaryBackgroundColor"],
        "text-color": colours["textColor"],
        "primary-color": colours["primaryColor"],
        "link-color": colours["linkColor"],
        "border-color": colours["borderColor"],
        "red-text-color": _RED[name],
        "base-radius": THEME["baseRadius"],
        "font": THEME["font"],
        "chart-sequential-colors": ",".join(colours["chartSequentialColors"]),
        "chart-categorical-colors": ",".join(colours["chartCategoricalColors"]),
    }
    return "".join(f"--st-{variable}:{value};" for variable, value in values.items())
