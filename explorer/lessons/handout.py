"""Write lessons as files for print: the handout with its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from explorer.decoding.selection import Selection
from explorer.files.html_page import STYLE, document, inline
from explorer.lessons.answers import opens_with
from explorer.lessons.expressions import TermError
from explorer.lessons.lesson import Lesson, Question, Step
from explorer.lessons.progress import Outcome
from explorer.locale.glossary import split_at_terms
from explorer.locale.language import ENGLISH
from explorer.locale.messages import message, t, translated
from explorer.locale.text import quoted

_HTTP = re.compile(r"https?://", re.IGNORECASE)
_JOINER = "\u2060"  # prevents links on the page (explorer/locale/text.py); files do not need it
_STYLE = """
body{max-width:46rem}h1{font-size:1.5rem}h2{break-after:avoid}section{break-inside:avoid;margin-bottom:1.5rem}
.do{border-left:3px solid #0f5e7d;padding-left:.75rem}.ask{background:#f3f5f7;padding:.5rem .75rem;border-radius:6px}
.ask ul{list-style:"☐  ";margin:.25rem 0}.line{border-bottom:1px solid #8a939c;height:1.6rem}
td,th{text-align:left;vertical-align:top}figcaption,.small{font-size:13px;color:#43505c}
figure svg{width:36rem}
figure{break-inside:avoid}
@media print{body{margin:0}.answers,.figures{break-before:page}}
"""
OUTCOMES = {
    Outcome.FIRST_TRY: message("right at the first try"),
    Outcome.LATER: message("right after more tries"),
    Outcome.SHOWN: message("shown"),
}


@dataclass(frozen=True)
class Paper:
    """A step as it is printed, with its placeholders replaced.

    `figure` is the number of its figure, from 1 (0 = none); `where` says what to open in the app; `solution` is the
    right answer, empty if there is no question or the answer cannot be computed.
    """

    step: Step
    text: str
    do: str = ""
    ask: str = ""
    right: str = ""
    solution: str = ""
    where: str = ""
    figure: int = 0


@dataclass(frozen=True)
class Figure:
    """A figure as it is printed: an SVG drawing, and a caption that does not give away what the figure shows."""

    drawing: bytes
    caption: str


def paper_of(
    step: Step,
    start: Selection,
    fill: Callable[[str, str], str],
    solution: str,
    figure: int = 0,
) -> Paper:
    """Prepare a step for print; `fill(text, answer)` replaces placeholders and raises TermError if it cannot."""

    def filled(text: str, answer: str = "") -> str:
        try:
            return fill(text, answer)
        except TermError as error:
            return f"({error})"

    question = step.question
    return Paper(
        step=step,
        text=filled(step.text),
        do=filled(step.do),
        ask=filled(question.text) if question else "",
        right=filled(question.right, solution) if question else "",
        solution=solution,
        where=where_to_look(step, start),
        figure=figure,
    )


def where_to_look(step: Step, start: Selection) -> str:
    """State which page, tab, model and sentence to open in the app; empty if the step opens nothing."""
    if step.link is None or not step.link.page:
        return ""
    place = place_in_app(step.link.page, step.link.tab)
    if start.model:
        return t(
            "{place}; model {model}, sentence {sentence}.",
            place=place,
            model=start.model,
            sentence=quoted(start.text),
        )
    return f"{place}."


def place_in_app(page: str, tab: str) -> str:
    """A page of the app, and its tab: "page Inside, tab The machine"."""
    title = translated(page.capitalize())
    if tab:
        return t("page {page}, tab {tab}", page=title, tab=translated(tab))
    return t("page {page}", page=title)


def handout(lesson: Lesson, papers: tuple[Paper, ...], figures: tuple[Figure, ...] = (), *, answers: bool) -> bytes:
    """Write the lesson as one HTML page.

    Figures follow on a page of their own, each once, since several steps may use the same one and a step that asks for
    a guess must not show it. With `answers`, the answers come last.
    """
    body = [
        f"<h1>{escape(lesson.title)}</h1>",
        f"<p>{escape(lesson.about)} {escape(t('About {n} minutes.', n=lesson.minutes))}</p>",
        *(_section(number, paper) for number, paper in enumerate(papers, start=1)),
    ]
    if figures:
        drawings = "".join(_figure(number, figure) for number, figure in enumerate(figures, start=1))
        body.append(f'<div class="figures"><h2>{escape(t("Figures"))}</h2>{drawings}</div>')
    if answers:
        body.append(
            f'<div class="answers"><h2>{escape(t("Answers"))}</h2><ol>{"".join(map(_answer, papers))}</ol></div>'
        )
    own_language = lesson.language if lesson.language != ENGLISH else ""
    return document(lesson.title, "\n".join(body), written_in=own_language, style=STYLE + _STYLE)


def _section(number: int, paper: Paper) -> str:
    parts = [f"<h2>{number}. {escape(paper.step.title)}</h2>", html_of(paper.text)]
    if paper.figure:
        look = (
            t("Answer first; then look at figure {number}.", number=paper.figure)
            if paper.step.after
            else t("Look at figure {number}.", number=paper.figure)
        )
        parts.append(f'<p class="small">{escape(look)}</p>')
    if paper.where:
        parts.append(f'<p class="small">{escape(t("In the app: {place}", place=paper.where))}</p>')
    if paper.do:
        parts.append(f'<p class="do"><strong>{escape(t("Do:"))}</strong> {inline_html(paper.do)}</p>')
    if paper.step.question is not None and paper.ask:
        parts.append(f'<div class="ask"><p>{inline_html(paper.ask)}</p>{_blank(paper.step.question)}</div>')
    return f"<section>{''.join(parts)}</section>"


def _figure(number: int, figure: Figure) -> str:
    caption = escape(t("Figure {number}. {caption}", number=number, caption=figure.caption))
    return f'<figure aria-label="{caption}">{inline(figure.drawing)}<figcaption>{caption}</figcaption></figure>'


def _blank(question: Question) -> str:
    if not question.choices:
        return '<div class="line"></div>'
    return f"<ul>{''.join(f'<li>{inline_html(choice.text)}</li>' for choice in question.choices)}</ul>"


def _answer(paper: Paper) -> str:
    if not paper.solution:
        return "<li>–</li>"
    if opens_with(paper.right, paper.solution):
        return f"<li>{inline_html(paper.right)}</li>"
    return f"<li><strong>{inline_html(paper.solution)}</strong>. {inline_html(paper.right)}</li>"


def _parser() -> MarkdownIt:
    """A Markdown parser for paragraphs, lists, code, emphasis and http links; without HTML, images or other schemes."""
    parser = MarkdownIt("zero", {"html": False}).enable(["list", "fence", "backticks", "emphasis", "link", "escape"])
    parser.validateLink = lambda url: _HTTP.match(url) is not None  # type: ignore[method-assign]
    return parser


_MARKDOWN = _parser()


def html_of(markdown: str, *, terms: bool = False) -> str:
    """Convert blocks of Markdown to HTML; with `terms`, the first mention of each term of the glossary is a link."""
    tokens = _MARKDOWN.parse(markdown.replace(_JOINER, ""))
    if terms:
        linked: set[str] = set()
        for token in tokens:
            if token.children:
                token.children = list(_with_terms(token.children, linked))
    rendered: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return rendered.rstrip("\n")


def _with_terms(tokens: Iterable[Token], linked: set[str]) -> Iterator[Token]:
    inside_link = False
    for token in tokens:
        if token.type in ("link_open", "link_close"):
            inside_link = token.type == "link_open"
        if token.type != "text" or inside_link:
            yield token
            continue
        for piece, address in split_at_terms(token.content, linked):
            text = Token("text", "", 0, content=piece)
            if not address:
                yield text
                continue
            yield Token("link_open", "a", 1, attrs={"class": "term", "href": address})
            yield text
            yield Token("link_close", "a", -1)


def inline_html(text: str) -> str:
    """Convert one line of Markdown to HTML, without a paragraph element."""
    rendered: str = _MARKDOWN.renderInline(text.replace(_JOINER, ""))
    return rendered
