"""Compute the right answer to a lesson's question from the models, and write the feedback to a given answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.lessons.expressions import Expression, TermError, Value, as_number, value_text
from explorer.lessons.lesson import Question
from explorer.lessons.progress import Outcome, StepRecord
from explorer.locale.messages import t
from explorer.locale.text import plain

MAX_ANSWER = 200  # characters of a typed answer
Tone = Literal["wrong", "right", "neutral"]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?", re.ASCII)


@dataclass(frozen=True)
class Solution:
    """The right answer: its text, the index of the choice (from 0; None for typed answers), and its computed value."""

    text: str
    choice: int | None
    value: Value


def solve(question: Question, evaluate: Callable[[Expression], Value]) -> Solution:
    """Compute the right answer.

    Raises:
        TermError: the answer cannot be computed, or does not match exactly one of the choices.
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
        return Solution(value_text(value, question.style), None, value)
    if isinstance(value, bool):
        return _chosen(question, 0 if value else 1, value)
    fitting = [i for i, choice in enumerate(question.choices) if _fits(question, value, choice.meaning or choice.text)]
    if len(fitting) != 1:
        raise TermError(
            "the answer is {value_text}, and that is not exactly one of the choices",
            value_text=value_text(value, question.style),
        )
    return _chosen(question, fitting[0], value)


def _chosen(question: Question, index: int, value: Value) -> Solution:
    text = question.choices[index].text
    is_code = text[:1] == text[-1:] == "`" and text.count("`") == 2  # written without its backticks
    return Solution(text[1:-1] if is_code else text, index, value)


def is_right(question: Question, solution: Solution, given: str) -> bool:
    """Whether an answer, typed or chosen, is right."""
    if solution.choice is not None:
        return given == question.choices[solution.choice].text
    return _fits(question, solution.value, given[:MAX_ANSWER])


def _fits(question: Question, value: Value, text: str) -> bool:
    if isinstance(value, str):
        return bare(text) == bare(value)
    number = as_number(bare(text))
    if number is None and question.choices:  # the choice "About 50" means 50
        inside = _NUMBER.findall(text)
        number = as_number(inside[0]) if len(inside) == 1 else None
    if number is None:
        return False
    right = 100 * value if question.style == "percent" else float(value)
    return abs(number - right) <= tolerance(question, right) + 1e-9


def tolerance(question: Question, right: float) -> float:
    """The largest difference of an answer from the right number that still counts as right."""
    if question.within is not None:
        return question.within
    if question.style == "percent":
        return 0.5
    if question.style:
        return 0.5 * 10.0 ** -int(question.style)
    return 0.0 if right.is_integer() else abs(right) / 100


def bare(text: str) -> str:
    """Normalise an answer: extra spaces, capitals, Markdown marks, quotation marks and full stops do not count."""
    return " ".join(text.split()).strip("`*.\"'“”„‘’ ").casefold()


@dataclass(frozen=True)
class Feedback:
    """One message under a question, as Markdown."""

    tone: Tone
    text: str


def feedback(
    question: Question, solution: Solution, record: StepRecord, filled: Callable[[str, str], str]
) -> tuple[Feedback, ...]:
    """Write the feedback to the last answer; none before the first one.

    `filled(text, answer)` replaces placeholders. Until the question has an outcome, a wrong answer only gets its hint.
    """
    messages = []
    answer = record.answer
    right = answer is not None and is_right(question, solution, answer.text)
    if answer is not None and not right:
        hint = filled(question.wrong, solution.text)
        messages.append(
            Feedback("wrong", t("Not quite: you answered {answer}. {hint}", answer=plain(answer.text), hint=hint))
        )
    if record.outcome == Outcome.UNANSWERED:
        return tuple(messages)
    explanation = filled(question.right, solution.text)
    if right and answer is not None:
        messages.append(Feedback("right", with_answer(t("Right"), answer.text, explanation, solution.text)))
    else:
        lead = t("The answer") if record.outcome == Outcome.SHOWN else t("You had it right")
        messages.append(Feedback("neutral", with_answer(lead, solution.text, explanation)))
    return tuple(messages)


def with_answer(lead: str, answer: str, explanation: str, right: str = "") -> str:
    """Join lead, answer and explanation so that the answer occurs once: "Right: 16." and not "Right: 16. 16.".

    `right` is the right answer as it is computed, which may be written differently: "1.00" for a typed 1.
    """
    if any(opens_with(explanation, each) for each in (answer, right)):
        return f"{lead}: {explanation}"
    return f"{lead}: {plain(answer)}. {explanation}"


def opens_with(explanation: str, answer: str) -> bool:
    """Whether an explanation (Markdown) begins with the answer as a whole word."""
    text, opening = _unmarked(explanation), _unmarked(answer)
    rest = text[len(opening) :]
    return (
        bool(opening) and text.startswith(opening) and not rest[:1].isalnum() and not rest.lstrip(".,")[:1].isdecimal()
    )


def _unmarked(text: str) -> str:
    """Remove Markdown's marks and escapes from a text, and convert it to lower case."""
    return text.replace("\\", "").replace("`", "").replace("*", "").strip().casefold()
