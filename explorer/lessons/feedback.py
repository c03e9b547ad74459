"""The feedback to an answer, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.lessons.answers import Solution, is_right
from explorer.lessons.lesson import Question
from explorer.lessons.progress import Outcome, StepRecord
from explorer.locale.text import plain

Tone = Literal["wrong", "right", "neutral"]


@dataclass(frozen=True)
class Feedback:
    """One message under a question, as Markdown."""

    tone: Tone
    text: str


def feedback(
    question: Question, solution: Solution, record: StepRecord, filled: Callable[[str, str], str]
) -> tuple[Feedback, ...]:
    """What to say after the last answer; nothing before the first one.

    `filled(text, answer)` replaces placeholders. Until the question has an outcome, a wrong answer gets its hint only.
    """
    messages = []
    answer = record.answer
    right = answer is not None and is_right(question, solution, answer.text)
    if answer is not None and not right:
        hint = filled(question.wrong, solution.text)
        messages.append(Feedback("wrong", f"Not quite: you answered {plain(answer.text)}. {hint}"))
    if record.outcome == Outcome.UNANSWERED:
        return tuple(messages)
    explanation = filled(question.right, solution.text)
    if right and answer is not None:
        messages.append(Feedback("right", with_answer("Right", answer.text, explanation)))
    else:
        lead = "The answer" if record.outcome == Outcome.SHOWN else "You had it right"
        messages.append(Feedback("neutral", with_answer(lead, solution.text, explanation)))
    return tuple(messages)


def with_answer(lead: str, answer: str, explanation: str) -> str:
    """Lead, answer and explanation as one message that says the answer once: "Right: 16." and not "Right: 16. 16."."""
    if opens_with(explanation, answer):
        return f"{lead}: {explanation}"
    return f"{lead}: {plain(answer)}. {explanation}"


def opens_with(explanation: str, answer: str) -> bool:
    """Whether an explanation (Markdown) begins with the answer as a word of its own."""
    said, wanted = _bare(explanation), _bare(answer)
    rest = said[len(wanted) :]
    return bool(wanted) and said.startswith(wanted) and not rest[:1].isalnum() and not rest.lstrip(".,")[:1].isdecimal()


def _bare(text: str) -> str:
    """Text without Markdown's marks and escapes, in lower case."""
    return text.replace("\\", "").replace("`", "").replace("*", "").strip().casefold()
