"""Lessons on paper: the handout with its figures, and the page of answers to hand in; both open without a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

from explorer.export_page import document, inline
from explorer.lesson import Lesson, Question, Step
from explorer.lesson_html import html_of, inline_html
from explorer.lesson_state import AT_ONCE, LATER, SHOWN, Given

_STYLE = """
body{max-width:46rem}h1{font-size:1.5rem}h2{break-after:avoid}section{break-inside:avoid;margin-bottom:1.5rem}
.do{border-left:3px solid #0f5e7d;padding-left:.75rem}.ask{background:#f3f5f7;padding:.5rem .75rem;border-radius:6px}
.ask ul{list-style:"☐  ";margin:.25rem 0}.line{border-bottom:1px solid #8a939c;height:1.6rem}
td,th{text-align:left;vertical-align:top}figcaption,.small{font-size:13px;color:#43505c}
@media print{body{margin:0}.answers{break-before:page}}
"""
HOW = {AT_ONCE: "right at once", LATER: "right later", SHOWN: "shown"}


@dataclass(frozen=True)
class Paper:
    """What a step looks like on paper, its numbers filled in.

    `figure` is an SVG drawing (empty where the step has none), `caption` its sentence; `where` says what to open in the
    app; `solution` is the right answer, empty where there is no question or nobody can say.
    """

    step: Step
    text: str
    do: str = ""
    ask: str = ""
    right: str = ""
    solution: str = ""
    where: str = ""
    figure: bytes = b""
    caption: str = ""


def handout(lesson: Lesson, papers: tuple[Paper, ...], *, answers: bool) -> bytes:
    """The lesson as one HTML page; with `answers`, these stand on a page of their own at the end."""
    body = [
        f"<h1>{escape(lesson.title)}</h1>",
        f"<p>{escape(lesson.about)} About {lesson.minutes} minutes.</p>",
        *(_section(number, paper) for number, paper in enumerate(papers, start=1)),
    ]
    if answers:
        body.append(f'<div class="answers"><h2>Answers</h2><ol>{"".join(map(_answer, papers))}</ol></div>')
    return document(lesson.title, "\n".join(body), language=lesson.language, style=_STYLE)


def _section(number: int, paper: Paper) -> str:
    parts = [f"<h2>{number}. {escape(paper.step.title)}</h2>", html_of(paper.text)]
    if paper.figure:
        caption = f"<figcaption>{escape(paper.caption)}</figcaption>"
        parts.append(f'<figure aria-label="{escape(paper.caption)}">{inline(paper.figure)}{caption}</figure>')
    if paper.where:
        parts.append(f'<p class="small">In the app: {escape(paper.where)}</p>')
    if paper.do:
        parts.append(f'<p class="do"><strong>Do:</strong> {inline_html(paper.do)}</p>')
    if paper.step.question is not None and paper.ask:
        parts.append(f'<div class="ask"><p>{inline_html(paper.ask)}</p>{_blank(paper.step.question)}</div>')
    return f"<section>{''.join(parts)}</section>"


def _blank(question: Question) -> str:
    if not question.choices:
        return '<div class="line"></div>'
    return f"<ul>{''.join(f'<li>{inline_html(choice.text)}</li>' for choice in question.choices)}</ul>"


def _answer(paper: Paper) -> str:
    if not paper.solution:
        return "<li>–</li>"
    return f"<li><strong>{inline_html(paper.solution)}</strong>. {inline_html(paper.right)}</li>"


def summary(
    lessons: tuple[Lesson, ...],
    *,
    who: str,
    when: str,
    outcome: Callable[[str, int], int],
    is_done: Callable[[str, int], bool],
    given: Callable[[str, int], Given | None],
    solutions: Mapping[tuple[str, int], str],
) -> bytes:
    """One page to hand in: every step with what was answered, and how it went."""
    title = f"Lessons: {who}" if who else "Lessons"
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="small">{escape(when)}</p>']
    for lesson in lessons:
        asked = [at for at, step in enumerate(lesson.steps, start=1) if step.question is not None]
        counted = {how: sum(outcome(lesson.name, at) == how for at in asked) for how in HOW}
        words = ", ".join(f"{count} {HOW[how]}" for how, count in counted.items())
        parts.append(f"<h2>{escape(lesson.title)}</h2><p>{len(asked)} questions: {words}.</p>")
        rows = "".join(_row(lesson, at, outcome, is_done, given, solutions) for at in range(1, len(lesson.steps) + 1))
        head = "".join(f"<th>{name}</th>" for name in ("step", "question", "your answer", "how it went", "done"))
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    return document(title, "\n".join(parts), style=_STYLE)


def _row(
    lesson: Lesson,
    at: int,
    outcome: Callable[[str, int], int],
    is_done: Callable[[str, int], bool],
    given: Callable[[str, int], Given | None],
    solutions: Mapping[tuple[str, int], str],
) -> str:
    step, how, answer = lesson.step(at), outcome(lesson.name, at), given(lesson.name, at)
    said = answer.text if answer else (solutions.get((lesson.name, at), "") if how in (AT_ONCE, LATER) else "")
    tries = f", {answer.tries} tries" if answer and answer.tries > 1 else ""
    cells = (
        escape(f"{at}. {step.title}"),
        inline_html(step.question.text) if step.question else "",
        escape(said),
        f"{HOW.get(how, 'open')}{tries}" if step.question else "",
        ("yes" if is_done(lesson.name, at) else "no") if step.do else "",
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
