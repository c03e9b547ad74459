"""Expressions of a lesson computed with models, placeholders filled in, claims verified."""

from __future__ import annotations

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.evaluation import Models
from explorer.lessons.expressions import Term, TermError, read_expression
from explorer.lessons.lesson import Step


def test_expressions_are_computed_with_the_models_at_hand() -> None:
    asked_for: list[tuple[str, str, tuple[int, ...]]] = []

    def check(model: str, text: str, path: tuple[int, ...], term: Term) -> float:
        asked_for.append((model, text, path))
        return float(len(text))

    models = Models(lambda: {"reverse": {}, "copy": {}}, lambda model, text: (7,), check)
    start, here = Selection(model="reverse", text="hello", path=(1,)), Selection(model="reverse", text="ab")
    assert models.evaluate(read_expression("x"), start) == 5.0
    assert models.evaluate(read_expression("x of=here < x()"), start, here) is True
    assert models.evaluate(read_expression("x model=none,copy after=y"), start) == 5.0
    assert asked_for == [
        ("reverse", "hello", (1,)),
        ("reverse", "ab", ()),
        ("reverse", "hello", (1,)),
        ("copy", "hello", (7,)),
    ]
    with pytest.raises(TermError, match="needs the model none, which is not here"):
        models.evaluate(read_expression("x model=none"), start)


def test_placeholders_are_replaced_and_escaped_and_claims_that_fail_are_named() -> None:
    def check(model: str, text: str, path: tuple[int, ...], term: Term) -> str | float:
        if term.name == "broken":
            raise TermError("no such row.")
        return 2.0 if term.name == "two" else "a`*b"

    models, start = Models(lambda: {"reverse": {}}, lambda model, text: (), check), Selection(model="reverse")
    assert models.fill("{x} `{x}` `{ x }` {answer}", start, "16") == r"a\`\*b `aˋ*b` `{ x }` 16"
    claims = tuple(map(read_expression, ("two == 2", "two > 2", "broken > 1")))
    assert models.broken_claims(Step("t", "", 1, claims=claims), start) == [
        "two > 2.0 does not hold (it is 2.0000).",
        "no such row.",
    ]
