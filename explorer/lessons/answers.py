"""The right answer to a lesson's question, computed from the models, and whether a given answer is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.lessons.expressions import Expression, TermError, Value, as_number, shown
from explorer.lessons.lesson import Question

MAX_ANSWER = 200  # characters of a typed answer
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?", re.ASCII)


@dataclass(frozen=True)
class Solution:
    """The right answer: its text, the index of the choice (from 0; None for typed answers), and the computed value."""

    text: str
    choice: int | None
    value: Value


def solve(question: Question, evaluate: Callable[[Expression], Value]) -> Solution:
    """Compute the right answer.

    Raises:
        TermError: it cannot be computed, or does not match exactly one of the choices.
    """
    if question.pick:
        values = [float(evaluate(choice.expression)) for choice in question.choices if choice.expression]
        best = max(values) if question.pick == "largest" else min(values)
        if values.count(best) > 1:
            raise TermError("two choices are equally right")
        index = values.index(best)
        return _chosen(question, index, best)
    if question.check is None:
        raise TermError("the question has no check")
    value = evaluate(question.check)
    if not question.choices:
        return Solution(shown(value, question.style), None, value)
    if isinstance(value, bool):
        return _chosen(question, 0 if value else 1, value)
    fitting = [i for i, choice in enumerate(question.choices) if _fits(question, value, choice.text)]
    if len(fitting) != 1:
        raise TermError(f"the answer is {shown(value, question.style)}, and that is not exactly one of the choices")
    return _chosen(question, fitting[0], value)


def _chosen(question: Question, index: int, value: Value) -> Solution:
    text = question.choices[index].text
    whole = (
        text[:1] == text[-1:] == "`" and text.count("`") == 2
    )  # a choice that is one code span is named without its backticks
    return Solution(text[1:-1] if whole else text, index, value)


def is_right(question: Question, solution: Solution, given: str) -> bool:
    """Whether an answer, typed or chosen, is right."""
    if solution.choice is not None:
        return given == question.choices[solution.choice].text
    return _fits(question, solution.value, given[:MAX_ANSWER])


def _fits(question: Question, value: Value, text: str) -> bool:
    if isinstance(value, str):
        return _bare(text) == _bare(value)
    number = as_number(_bare(text))
    if number is None and question.choices:  # the choice "About 50" means 50
        inside = _NUMBER.findall(text)
        number = as_number(inside[0]) if len(inside) == 1 else None
    if number is None:
        return False
    wanted = 100 * value if question.style == "percent" else float(value)
    return abs(number - wanted) <= _tolerance(question, wanted) + 1e-9


def _tolerance(question: Question, wanted: float) -> float:
    if question.within is not None:
        return question.within
    if question.style == "percent":
        return 0.5
    if question.style:
        return 0.5 * 10.0 ** -int(question.style)
    return 0.0 if wanted.is_integer() else abs(wanted) / 100


def _bare(text: str) -> str:
    """An answer without what does not count: extra spaces, capitals, Markdown marks, quotation marks, full stop."""
    return " ".join(text.split()).strip("`*.\"'“”„‘’ ").casefold()
