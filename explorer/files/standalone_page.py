"""Write an HTML file with the interactive views of recorded decodings, which needs no server, network or installation.

The file contains the program and its data, compressed and encoded as text. Its content security policy allows one
script, by its hash, which unpacks the modules and imports them. Text from outside is escaped here, or set as text
content by the script.
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
from explorer.browser.site_structs import RecordingHeader, StandaloneHeader
from explorer.browser.structs import Position, StandaloneView
from explorer.browser.words import catalogue
from explorer.charts.palette import THEME
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding, can_be_stepped
from explorer.decoding.head_change import edits_in_words
from explorer.decoding.view_options import parse_view
from explorer.files.html_page import document
from explorer.locale.glossary import address_of, explain, names_of
from explorer.locale.messages import message, t, translated
from explorer.locale.text import fixed, printable

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation

Theme = Literal["auto", "light", "dark"]
_PACKS: dict[StandaloneView, str] = {"steps": "stepper", "heads": "heads"}
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
# Nothing may be loaded; the page and its views set their own styles as text.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_RED = {"light": "#b00020", "dark": "#ff8a8a"}
_LEVEL = 6  # of compression; 9 takes three times as long and saves one percent
# Terms of the glossary that the views explain.
_TERMS = ("attention weight", "temperature", "layer", "self-attention", "cross-attention")
ADVICE = message(
    "Attention weights show where one layer read information from. They do not say why the model decided so."
)


@dataclass(frozen=True, eq=False)
class Recording:
    """One decoding of a standalone page; decodings whose predicted ids have a common prefix are forks of each other.

    `text` and `detail` name it in a list: the translation, and how it came about. `step`, from 1, is where it departs
    from the recording of which it is a fork.
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
    """Write the file, which opens with recording `at` at `place`; `options` are those of the views of heads.

    `facts` are sentences below the views, `index` is the address of the page with the list of examples. Without
    cross-attention in the recordings, there are only the views of heads. `digits` is the number of decimals to which
    weights are rounded, at most 4.

    Raises:
        ValueError: a weight is not a number.
    """
    stepped = all(can_be_stepped(recording.decoding.trace) for recording in recordings)
    views: list[StandaloneView] = ["steps", "heads"] if stepped else ["heads"]
    header = StandaloneHeader(
        views=views,
        view=view if view in views else views[0],
        at=at,
        place=Position(**vars(place), options=parse_view(options)),
        terms={
            address_of(term): (names_of(entry)[0], translated(entry.plain), translated(entry.explanation))
            for term, entry in ((term, explain(term)) for term in _TERMS)
        },
        words=catalogue(assets.sources(("standalone",), [_PACKS[view] for view in views])),
        recordings=[
            RecordingHeader(each.decoding.seq, printable(each.text), printable(each.detail), max(each.step, 1), forks)
            for each, forks in zip(recordings, forks_of(recordings), strict=True)
        ],
    )
    messages = {
        f"{i}": np.frombuffer(encode(recording.decoding, digits=digits), np.uint8)
        for i, recording in enumerate(recordings)
    }
    remarks = [_rounding(digits)] if digits else []
    return _document(
        title, [*facts, *remarks, translated(ADVICE)], views, wire.write(vars(header), messages), theme_name, index
    )


def _rounding(digits: int) -> str:
    return t(
        "Weights are rounded to {n} decimal; 0 stands for less than {least}.",
        "Weights are rounded to {n} decimals; 0 stands for less than {least}.",
        n=digits,
        least=fixed(0.5 * 10**-digits, digits + 1),
    )


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
    """Write the page of one sentence from its `recordings`, the model's own first; it opens with `shown`.

    Of recordings with the same path, only the first is used. The other arguments are those of :func:`page`.
    """
    by_path: dict[tuple[int, ...], Recording] = {}
    for recording in [*recordings, Recording(shown, shown.text, t("the path that was on screen"))]:
        by_path.setdefault(recording.decoding.path, recording)
    about = [t("Translated by the model {model}.", model=shown.model)]
    if shown.trace.edits:
        about.append(t("Heads were changed: {edits}.", edits=edits_in_words(shown.trace.edits)))
    return page(
        list(by_path.values()),
        place,
        title=shown.source.text,
        facts=[" ".join(about), *facts],
        at=list(by_path).index(shown.path),
        view=view,
        options=options,
        index=index,
    )


def forks_of(recordings: Sequence[Recording]) -> list[list[dict[int, int]]]:
    """For each recording and row, map the ids of other tokens to the recordings that continue with them."""
    forks: list[list[dict[int, int]]] = [[{} for _ in each.decoding.trace.read_tokens] for each in recordings]
    paths = [recording.decoding.path for recording in recordings]
    for i, path in enumerate(paths):
        for j, other in enumerate(paths):
            pairs = enumerate(zip(path, other, strict=False))
            row = next((row for row, (token, other_token) in pairs if token != other_token), None)
            if row is not None and row < len(forks[i]):
                forks[i][row].setdefault(other[row], j)
    return forks


def _document(
    title: str, facts: Sequence[str], views: Sequence[StandaloneView], data: bytes, theme_name: Theme, index: str
) -> bytes:
    boot, code = assets.read("standalone_boot.js"), assets.standalone(tuple(_PACKS[view] for view in views))
    packed = base64.b64encode(zlib.compress(struct.pack("<I", len(code)) + code + data, _LEVEL)).decode()
    words = html.escape(printable(title))
    back = f'<a href="{html.escape(index)}">{html.escape(t("← All examples"))}</a>' if index else ""
    no_script = t("This page draws its figures with JavaScript, which is switched off in this browser.")
    body = f"""<header>
<div>{back}<h1><bdi>{words}</bdi></h1><p id="text" dir="auto"></p></div>
<div id="views" role="group" aria-label="{html.escape(t("View"))}" hidden></div>
<button type="button" id="theme" hidden></button>
</header>
<ol id="paths" aria-label="{html.escape(t("Recorded translations"))}" hidden></ol>
<main id="view"></main>
<p id="failed" role="alert" hidden></p>
<noscript><p>{html.escape(no_script)}</p></noscript>
<footer>{"".join(f"<p>{html.escape(printable(fact))}</p>" for fact in facts)}</footer>
<div id="tip" popover="manual" role="tooltip"><p><b></b> <span></span></p><p></p></div>
<script type="text/plain" id="packed">{packed}</script>
<script type="module">{boot}</script>"""
    style = theme_style() + assets.style("standalone")
    policy = f"{_POLICY}; script-src {script_hash(boot)} blob:"
    theme = "" if theme_name == "auto" else theme_name
    return document(printable(title), body, style=style, policy=policy, theme=theme)


def script_hash(script: str) -> str:
    """The source expression of a script in the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@functools.cache
def theme_style() -> str:
    """CSS rules that set the variables by the browser's preference, or by the attribute `data-theme` of the root."""
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
