"""Answers, right or wrong, what is said about them, and exercises, done or not."""

from dataclasses import replace
from typing import Any

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.answers import Solution, is_right, solve
from explorer.lessons.exercises import ReaderState, is_done
from explorer.lessons.expressions import Expression, Term, TermError, read_expression
from explorer.lessons.lesson import Choice, Question
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
