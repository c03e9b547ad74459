"""Write a lesson in the language chosen: its texts are messages, paragraph by paragraph; links and checks stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from explorer.lessons.lesson import Choice, Lesson, Question, Step
from explorer.locale.language import current
from explorer.locale.messages import translated

_LAID_OUT = re.compile(r"(?:[-*>]|\d+\.)\s|\||```")  # a paragraph whose line breaks mean something


def in_language(lesson: Lesson) -> Lesson:
    """The lesson in the language chosen; what the language lacks stays in English."""
    written = _mapped(lesson, translated)
    return replace(written, language=current()) if written.title != lesson.title else written


def texts_of(lesson: Lesson) -> Iterator[str]:
    """The messages of a lesson in reading order."""
    found: dict[str, None] = {}
    _mapped(lesson, lambda text: found.setdefault(text) or text)
    yield from found


def _mapped(lesson: Lesson, write: Callable[[str], str]) -> Lesson:
    def each(text: str) -> str:
        return write(text) if re.search(r"[^\W\d_]{2}", text) else text

    return replace(
        lesson,
        title=each(lesson.title),
        about=each(lesson.about),
        recap=tuple(map(each, lesson.recap)),
        steps=tuple(_step(step, each) for step in lesson.steps),
    )


def _step(step: Step, write: Callable[[str], str]) -> Step:
    return replace(
        step,
        title=write(step.title),
        text="\n\n".join(write(paragraph) for paragraph in _paragraphs(step.text)),
        do=write(step.do),
        question=_question(step.question, write) if step.question else None,
    )


def _question(question: Question, write: Callable[[str], str]) -> Question:
    return replace(
        question,
        text=write(question.text),
        choices=tuple(Choice(write(each.text), each.expression, each.text) for each in question.choices),
        right=write(question.right),
        wrong=write(question.wrong),
    )


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.splitlines()
        laid_out = any(_LAID_OUT.match(line) for line in lines)
        yield ("\n" if laid_out else " ").join(lines)
