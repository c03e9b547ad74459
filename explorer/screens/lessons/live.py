"""Lessons at work in the app: the files that are there, and what the loaded models answer to their questions."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from explorer.lessons.checks import Live, answer
from explorer.lessons.expressions import Expression, Term, TermError, Value, compare, read_expression, shown
from explorer.lessons.lesson import Lesson, LessonError, Step
from explorer.lessons.lesson_file import CODE, PLACEHOLDER, read_lesson
from explorer.text import plain
from explorer.translation.examples import examples_of
from explorer.translation.selection import Selection
from explorer.translation.translator import InputError
from explorer.web import runtime
from model.config import DecodeConfig
from model.folder import CheckpointError

FOLDER = Path(os.environ.get("HEADLIGHT_LESSONS", Path(__file__).parents[2] / "lessons" / "content"))
MAX_LESSONS = 60


@dataclass(frozen=True)
class Shelf:
    """The lessons in their order, and a sentence for each file that is none."""

    lessons: tuple[Lesson, ...]
    problems: tuple[str, ...]

    def find(self, name: str) -> Lesson | None:
        """The lesson of this name, if there is one."""
        return next((lesson for lesson in self.lessons if lesson.name == name), None)


def shelf() -> Shelf:
    """All lessons; a file that was changed is read again."""
    files = sorted(FOLDER.glob("*.md"))[:MAX_LESSONS]
    return _shelf(tuple((str(path), path.stat().st_mtime_ns) for path in files))


@st.cache_resource(max_entries=4, show_spinner=False)
def _shelf(files: tuple[tuple[str, int], ...]) -> Shelf:
    lessons, problems = [], []
    for path, _ in files:
        try:
            lessons.append(read_lesson(Path(path)))
        except LessonError as broken:
            problems.append(str(broken))
    return Shelf(tuple(sorted(lessons, key=lambda lesson: (lesson.order, lesson.name))), tuple(problems))


def start_of(step: Step) -> Selection:
    """Where a step begins: its link's place, with the sentence that the model has as its first where it names none."""
    known = runtime.models()
    if step.link is None:
        return Selection()
    place = step.link.selection(known)
    if not place.text and place.model in known:
        prompts = examples_of(known[place.model])
        place = dataclasses.replace(place, text=prompts[0].source if prompts else "")
    return place


def evaluate(expression: Expression, start: Selection, here: Selection | None = None) -> Value:
    """What the models answer now; `start` is the step's place, `here` the reader's.

    Raises:
        TermError: there is no answer; the message says why.
    """
    left = _value(expression.left, start, here)
    if not expression.op:
        return left
    right = expression.right
    return compare(left, expression.op, _value(right, start, here) if isinstance(right, Term) else right)


def _value(term: Term, start: Selection, here: Selection | None) -> Value:
    values = term.values
    base = here if values.get("of") == "here" and here is not None else start
    known = runtime.models()
    asked = values.get("model", base.model).split(",")
    model = next((name for name in asked if name in known), "")
    if not model:
        raise TermError(f"{term} needs the model {' or '.join(asked)}, and it is not here")
    text = values.get("text", base.text)
    path = base.path if text == base.text and model == base.model else None
    try:
        if "after" in values:
            path = runtime.translator(model).loaded.target.encode(values["after"]).ids
        return _answered(model, runtime.fingerprint(model), text, tuple(path or ()), term)
    except (InputError, CheckpointError) as without:
        raise TermError(str(without)) from without


@st.cache_resource(max_entries=1024, show_spinner=False)
def _answered(model: str, version: str, text: str, path: tuple[int, ...], term: Term) -> Value:
    del version  # part of the key only
    translation = runtime.translate(model, text, DecodeConfig(), path)
    return answer(term, Live(runtime.translator(model), translation, runtime.models()[model]))


def fill(text: str, start: Selection, answered: str = "", escape: Callable[[str], str] = plain) -> str:
    """A text with the numbers in place of what is in braces, each escaped by `escape`; other code is left alone.

    Raises:
        TermError: one of them has no answer here.
    """

    def number(inside: str) -> str:
        if inside == "answer":
            return answered
        expression = read_expression(inside)
        return shown(evaluate(expression, start), expression.left.values.get("as", ""))

    def filled(part: str) -> str:
        if not part.startswith("`"):
            return PLACEHOLDER.sub(lambda found: escape(number(found[1])), part)
        found = PLACEHOLDER.fullmatch(part[1:-1])
        # In code nothing is markup but its own end.
        return f"`{number(found[1]).replace('`', 'ˋ') or ' '}`" if found else part

    return "".join(map(filled, CODE.split(text)))


def broken_claims(step: Step, start: Selection) -> list[str]:
    """What a step says of the models and does not hold any more, a sentence each."""
    found = []
    for claim in step.claims:
        try:
            holds = evaluate(claim, start)
        except TermError as without:
            found.append(f"{without}.".replace("..", "."))
            continue
        if holds is not True:
            found.append(f"{claim} does not hold (it is {shown(evaluate(Expression(claim.left), start), '4')}).")
    return found
