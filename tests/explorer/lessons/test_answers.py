"""Typed and chosen answers, right or wrong, and what is said about them."""

from __future__ import annotations

import pytest

from explorer.lessons.answers import Solution, feedback, is_right, solve, with_answer
from explorer.lessons.expressions import Expression, Term, TermError, read_expression
from explorer.lessons.lesson import Choice, Question
from explorer.lessons.progress import (
    Answer,
    Outcome,
    StepRecord,
)
from tests.explorer.lessons.examples import asked


@pytest.mark.parametrize(
    ("value", "question", "right", "wrong"),
    [
        (0.987, asked("x as=percent"), ["99", "99 %", "98.7"], ["0.987", "97", "x", ""]),
        (0.987, asked("x as=percent", within=3), ["96", "101"], ["95"]),
        (3.0, asked("x"), ["3", "3.0", " 3 "], ["3.1", "three"]),
        (4.664, asked("x as=2"), ["4.66", "4,66"], ["4.6"]),
        ("olleh", asked("x"), ["olleh", "`OLLEH`", ' "olleh". '], ["hello", "o"]),
        ("<sos>", asked("x"), ["<sos>"], ["sos"]),
    ],
)
def test_typed_answers(value: str | float, question: Question, right: list[str], wrong: list[str]) -> None:
    solution = solve(question, lambda _: value)
    assert all(is_right(question, solution, text) for text in right)
    assert not any(is_right(question, solution, text) for text in wrong)


def test_chosen_answers() -> None:
    letters = asked("x", "h", "`o`")
    assert solve(letters, lambda _: "o") == Solution("o", 1, "o")
    assert is_right(letters, solve(letters, lambda _: "o"), "`o`")
    assert solve(asked("x", "About 50", "About 2"), lambda _: 2.0).choice == 1
    assert solve(asked("x > 1", "Yes", "No"), lambda _: False).text == "No"
    with pytest.raises(TermError, match="not exactly one of the choices"):
        solve(letters, lambda _: "e")
    compared = tuple(Choice(name, Expression(Term(name))) for name in "ab")
    numbers = {"a": 1.0, "b": 2.0}
    largest = Question("?", compared, None, "largest")
    assert solve(largest, lambda one: numbers[one.left.name]).text == "b"
    with pytest.raises(TermError, match="equally right"):
        solve(largest, lambda _: 1.0)


@pytest.mark.parametrize(
    ("answer", "explanation", "said"),
    [
        ("16", "16.", "Right: 16."),
        ("No", "No, it says `x`.", "Right: No, it says `x`."),
        ("`O`", "`o`, the last letter.", "Right: `o`, the last letter."),
        ("1", "10 of them.", "Right: 1. 10 of them."),
        ("1", "1.5 of them.", "Right: 1. 1.5 of them."),
        ("No", "Not at all.", "Right: No. Not at all."),
    ],
)
def test_feedback_says_the_answer_once(answer: str, explanation: str, said: str) -> None:
    assert with_answer("Right", answer, explanation) == said


@pytest.mark.parametrize(
    ("outcome", "given", "said"),
    [
        (Outcome.UNANSWERED, None, None),
        (Outcome.UNANSWERED, "*3*", ("wrong", r"Not quite: you answered \*3\*. Look again.")),
        (Outcome.FIRST_TRY, "16", ("right", "Right: 16: all of it.")),
        (Outcome.SHOWN, "3", ("neutral", "The answer: 16: all of it.")),
        (Outcome.LATER, None, ("neutral", "You had it right: 16: all of it.")),
    ],
)
def test_what_is_said_of_an_answer(outcome: Outcome, given: str | None, said: tuple[str, str] | None) -> None:
    question = Question("?", (), read_expression("x"), "", "{answer}: all of it.", "Look again.")
    record = StepRecord(outcome, False, Answer(given, 1) if given else None)
    made = feedback(question, Solution("16", None, 16.0), record, lambda text, answer: text.replace("{answer}", answer))
    assert [(message.tone, message.text) for message in made][-1:] == ([said] if said else [])
