"""Expressions: read, compared, value_text, computed with models, filled in, and verified."""

import pytest

from explorer.decoding.selection import Selection
from explorer.lessons.evaluation import Models
from explorer.lessons.expressions import Expression, Term, TermError, compare, read_expression, value_text
from explorer.lessons.lesson import Step


def test_expressions() -> None:
    assert read_expression("translation") == Expression(Term("translation"))
    found = read_expression('probability row=2 token="a b" >= 0.5')
    assert found == Expression(Term("probability", (("row", "2"), ("token", "a b"))), ">=", 0.5)
    assert read_expression("predicted row=1 == je").right == "je"
    assert read_expression("translation == translation()").right == Term("translation")
    assert read_expression("reads row=2 == predicted row=1").right == Term("predicted", (("row", "1"),))
    for broken in ("", "row=1", "a b", "a < b < c", "< 1", "a <", "a x=1 x=2", 'a b="', "A", "a" * 501):
        with pytest.raises(TermError):
            read_expression(broken)


def test_comparisons() -> None:
    for left, sign, right in ((0.1 + 0.2, "==", 0.3), ("Je", "==", "je "), ("a", "!=", "b"), (1.0, "<=", 1.0)):
        assert compare(left, sign, right)
    assert not compare(2.0, "<", 1.0)
    with pytest.raises(TermError, match="compares words"):
        compare("a", "<", "b")
    shares = (0, 0.004, 0.5, 0.998, 0.99999, 0.9999999, 1)
    assert [value_text(share, "percent") for share in shares] == [
        *("0 %", "0.4 %", "50 %", "99.8 %", "99.999 %", "> 99.999 %", "100 %"),
    ], "100 % is said of nothing less"
    written = [value_text(0.123), value_text(0.5, "percent"), value_text(2.0), value_text(1.256, "2"), value_text(True)]
    assert written == ["0.123", "50 %", "2", "1.26", "yes"]


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
