"""What is said about an answer."""

from __future__ import annotations

from explorer.lessons.answers import Solution, feedback, with_answer
from explorer.lessons.expressions import read_expression
from explorer.lessons.lesson import Question
from explorer.lessons.progress import (
    Answer,
    Outcome,
    StepRecord,
)


def test_feedback_says_the_answer_once() -> None:
    assert with_answer("Right", "16", "16.") == "Right: 16."
    assert with_answer("Right", "No", "No, it says `x`.") == "Right: No, it says `x`."
    assert with_answer("Right", "`O`", "`o`, the last letter.") == "Right: `o`, the last letter."
    assert with_answer("Right", "1", "10 of them.") == r"Right: 1. 10 of them."
    assert with_answer("Right", "1", "1.5 of them.") == "Right: 1. 1.5 of them."
    assert with_answer("Right", "No", "Not at all.") == "Right: No. Not at all."
    question = Question("?", (), read_expression("x"), "", "{answer}: all of it.", "Look again.")
    solution = Solution("16", None, 16.0)

    def say(outcome: Outcome, answer: Answer | None) -> list[tuple[str, str]]:
        record = StepRecord(outcome, False, answer)
        made = feedback(question, solution, record, lambda text, answer: text.replace("{answer}", answer))
        return [(message.tone, message.text) for message in made]

    assert say(Outcome.UNANSWERED, None) == []
    assert say(Outcome.UNANSWERED, Answer("*3*", 1)) == [("wrong", r"Not quite: you answered \*3\*. Look again.")]
    assert say(Outcome.FIRST_TRY, Answer("16", 1)) == [("right", "Right: 16: all of it.")]
    assert say(Outcome.SHOWN, Answer("3", 1))[1] == ("neutral", "The answer: 16: all of it.")
    assert say(Outcome.LATER, None) == [("neutral", "You had it right: 16: all of it.")]
