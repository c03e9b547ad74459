"""Recorded translations as pages of the site, and the page with the list of them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from explorer.browser import assets
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import step_worth_seeing
from explorer.decoding.model_summary import story
from explorer.decoding.other_paths import fork_of
from explorer.decoding.translator import Translation, Translator
from explorer.files.html_page import document
from explorer.files.standalone_page import ADVICE, Recording, theme_style, translation_page
from explorer.locale.messages import t, translated
from explorer.locale.text import printable
from model.config import DecodeConfig

MOST_FORKS = 12
INDEX, EXAMPLES = "index.html", "examples"
MIN_PROBABILITY = 0.02  # of a token whose continuation is recorded
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, eq=False)
class Example:
    """A page of the folder: the name of its file, its sentences, the number of forks, and its content.

    `place` is what it shows, as the fields of an address; `address` is that of another page, if there is no file.
    """

    file: str
    source: str
    text: str
    n_forks: int
    page: bytes
    place: Mapping[str, str]
    address: str = ""


def recorded(
    translator: Translator, sentence: str, number: int, *, word: str = "", forks: int = 3, index: str = ""
) -> Example:
    """Make the page of one sentence, with the `forks` likeliest other continuations.

    It opens at the step that predicts `word`, or at the closest race between two words. `number` is part of the file
    name, and `index` the address of the page with the list of examples.

    Raises:
        InputError: the sentence is empty.
    """
    own = translator.translate(sentence, DecodeConfig())
    others = [_continued(translator, own, row, rank) for row, rank in runners_up(own, forks)]
    step = step_worth_seeing(own.trace, word, own.n_prompt)
    page = translation_page(
        [Recording(own, own.text, t("the model's own choice"), step), *others],
        shown=own,
        place=Place("cross", own.trace.cross.shape[0], 0, row=step, step=step),
        facts=tuple(map(str, own.notes)),
        index=index,
    )
    name = f"{translator.name}-{number}.html"
    at = {"model": translator.name, "text": sentence, "step": str(step)}
    return Example(name, own.source.text, own.text, len(others), page, at)


def runners_up(own: Translation, most: int) -> list[tuple[int, int]]:
    """Choose the likeliest tokens that the model did not take, at most `most`: (row, rank) from 0, sorted."""
    trace, candidates = own.trace, []
    for row, token in enumerate(own.path):
        for rank, other in enumerate(trace.top_ids[row]):
            if int(other) != token and float(trace.top_probabilities[row, rank]) >= MIN_PROBABILITY:
                candidates.append((float(trace.top_probabilities[row, rank]), row, rank))
    best = sorted(candidates, key=lambda candidate: (-candidate[0], candidate[1]))[:most]
    return sorted((row, rank) for _, row, rank in best)


def _continued(translator: Translator, own: Translation, row: int, rank: int) -> Recording:
    """Record the decoding that takes this token instead, and continues by itself."""
    token = int(own.trace.top_ids[row, rank])
    other = translator.translate(own.source.text, DecodeConfig(), prefix=(*own.path[:row], token))
    return Recording(other, other.text, fork_of(own, other, row + 1, token).detail, row + 1)


def index_page(groups: Sequence[tuple[dict[str, Any], Sequence[Example]]], *, back: str = "") -> bytes:
    """Write the page with the list of examples; each group is a model's summary and its examples.

    `back` is the address of a page that translates any sentence, if there is one.
    """
    sections = "\n".join(_section(summary, examples) for summary, examples in groups)
    own = t("← Translate a sentence of your own")
    link = f'<p><a href="{html.escape(back)}">{html.escape(own)}</a></p>' if back else ""
    title, about, foot = (
        t("What a translator looks at"),
        t(
            "Small translation models, recorded while they translate. Each page steps through one sentence: which "
            "words the model looks at for every word that it writes, head by head, and what it would have written "
            "instead."
        ),
        t("Made with Headlight. These pages load nothing and send nothing."),
    )
    body = f"""<main>
{link}<h1>{html.escape(title)}</h1>
<p>{html.escape(about)}</p>
{sections}
</main>
<footer><p>{html.escape(translated(ADVICE))}</p><p>{html.escape(foot)}</p></footer>"""
    return document(title, body, style=theme_style() + assets.style("site"), policy=_POLICY)


def _section(summary: dict[str, Any], examples: Sequence[Example]) -> str:
    items = "\n".join(_item(example) for example in examples)
    name, about = html.escape(printable(str(summary["name"]))), html.escape(printable(story(summary)))
    return f"<section>\n<h2>{name}</h2>\n<p>{about}</p>\n<ul>\n{items}\n</ul>\n</section>"


def _item(example: Example) -> str:
    source, text = (html.escape(printable(words)) for words in (example.source, example.text))
    forks = ""
    if example.n_forks and not example.address:
        others = t("{n} other continuation", "{n:,} other continuations", n=example.n_forks)
        forks = f" <small>{html.escape(others)}</small>"
    link = html.escape(example.address or quote(example.file))
    return f'<li><a href="{link}"><bdi>{source}</bdi></a> <span>→ <bdi>{text}</bdi></span>{forks}</li>'


def moved(address: str) -> bytes:
    """A document that leads to another address."""
    target = html.escape(address)
    body = f'<p><a href="{target}">{html.escape(t("This page has moved."))}</a></p>'
    return document(t("Moved"), body, refresh=target)
