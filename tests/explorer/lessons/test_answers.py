"""Answers, right or wrong, what is said about them, and exercises, done or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.answers import Solution, feedback, is_right, solve, with_answer
from explorer.lessons.exercises import ReaderState, is_done
from explorer.lessons.expressions import Expression, Term, TermError, read_expression
from explorer.lessons.lesson import Choice, Question
from explorer.lessons.progress import Answer, Outcome, StepRecord
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
        ("1", "1.00, as in every row.", "Right: 1.00, as in every row."),
        ("No", "No, it says `x`.", "Right: No, it says `x`."),
        ("`O`", "`o`, the last letter.", "Right: `o`, the last letter."),
        ("1", "10 of them.", "Right: 1. 10 of them."),
        ("1", "1.5 of them.", "Right: 1. 1.5 of them."),
        ("No", "Not at all.", "Right: No. Not at all."),
    ],
)
def test_feedback_says_the_answer_once(answer: str, explanation: str, said: str) -> None:
    right = "1.00" if "1.00" in explanation else ""
    assert with_answer("Right", answer, explanation, right) == said


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


START = Selection(model="m", text="a b", path=(1,), kind="encoder", layer=1, head=2, step=1)
LSTM = {"trained": True, "task": "reverse", "model": {"architecture": "lstm"}}


def at(
    *own: dict[str, Any], edits: int = 0, widgets: dict[str, object] | None = None, block: str = "", **place: Any
) -> ReaderState:
    """A reader who has gone to this place, with these models of their own."""
    return ReaderState(replace(START, **place), START, widgets or {}, own, edits, block)


@pytest.mark.parametrize(
    ("exercise", "done", "others"),
    [
        ("at kind=cross layer=3", at(kind="cross", layer=3), [at(kind="cross"), at(layer=3)]),
        ("at head=4", at(head=4), [at(head=3)]),
        ("at step=4", at(step=4), [at(step=3)]),
        ("at row=3 key=4", at(cell=(3, 4)), [at(cell=(4, 3))]),
        ("at block=word step=2", at(block="word", step=2), [at(block="word"), at(block="words", step=2)]),
        ("at block=decoder.0.ff", at(block="decoder.0.ff.h1.key"), [at(block="decoder.0"), at(block="decoder.1.ff")]),
        ("own_sentence", at(text="c"), [at(text=" a b "), at(text="  ")]),
        ("other_path", at(path=(9,)), [at(path=None)]),
        ("edited", at(edits=1), [at(kind="decoder")]),
        ("switched widget=a value=true", at(widgets={"a": True}), [at(widgets={"a": False, "b": True})]),
        ("trained", at(LSTM), [at({**LSTM, "trained": False})]),
        ("trained task=reverse architecture=lstm", at(LSTM), [at({**LSTM, "task": "x"}), at({**LSTM, "model": {}})]),
    ],
)
def test_an_exercise_is_done_by_what_it_asks_for(exercise: str, done: ReaderState, others: list[ReaderState]) -> None:
    term = read_expression(exercise).left
    assert is_done(term, done)
    assert not any(is_done(term, other) for other in (at(), *others))
