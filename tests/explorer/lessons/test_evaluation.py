"""Expressions of a lesson computed with models, placeholders filled in, claims verified."""

from __future__ import annotations

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.evaluation import Models, broken_claims, evaluate, fill
from explorer.lessons.expressions import Expression, Term, TermError, compare, read_expression
from explorer.lessons.lesson import Step


def test_expressions_are_computed_with_the_models_at_hand() -> None:
    asked_for: list[tuple[str, str, tuple[int, ...]]] = []

    def check(model: str, text: str, path: tuple[int, ...], term: Term) -> float:
        asked_for.append((model, text, path))
        return float(len(text))

    models = Models({"reverse": {}, "copy": {}}, lambda model, text: (7,), check)
    start, here = Selection(model="reverse", text="hello", path=(1,)), Selection(model="reverse", text="ab")
    assert evaluate(read_expression("x"), models, start) == 5.0
    assert evaluate(read_expression("x of=here < x()"), models, start, here) is True
    assert evaluate(read_expression("x model=none,copy after=y"), models, start) == 5.0
    assert asked_for == [
        ("reverse", "hello", (1,)),
        ("reverse", "ab", ()),
        ("reverse", "hello", (1,)),
        ("copy", "hello", (7,)),
    ]
    with pytest.raises(TermError, match="needs the model none, which is not here"):
        evaluate(read_expression("x model=none"), models, start)


def test_placeholders_are_replaced_and_escaped_and_claims_that_fail_are_named() -> None:
    def value_of(expression: Expression) -> str | float | bool:
        if expression.left.name == "broken":
            raise TermError("no such row.")
        return compare(2.0, expression.op, expression.right) if isinstance(expression.right, float) else "a`*b"

    assert fill("{x} `{x}` `{ x }` {answer}", value_of, "16") == r"a\`\*b `aˋ*b` `{ x }` 16"
    claims = tuple(map(read_expression, ("x == 2", "x > 2", "broken > 1")))
    assert broken_claims(Step("t", "", 1, claims=claims), value_of) == [
        "x > 2.0 does not hold (it is a`*b).",
        "no such row.",
    ]
