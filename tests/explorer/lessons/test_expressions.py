"""Expressions: read, compared and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.lessons.expressions import Expression, Term, TermError, as_number, compare, read_expression, value_text


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


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        found = read_expression(text)
    except TermError as refused:
        said = str(refused)
    else:
        said = str(found)
    assert said


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), ("0,25", 0.25), (" 62 % ", 62), ("-1.5", -1.5), ("−1", -1), ("x", None), ("1e5", None), ("nan", None)]
    + [("", None), ("٣", None), ("1" * 400, None), ("%", None)],
)
def test_numbers_as_people_write_them(text: str, number: float | None) -> None:
    assert as_number(text) == number


def test_comparisons() -> None:
    assert compare(0.1 + 0.2, "==", 0.3)
    assert compare("Je", "==", "je ")
    assert compare("a", "!=", "b")
    assert compare(1.0, "<=", 1.0)
    assert not compare(2.0, "<", 1.0)
    with pytest.raises(TermError, match="compares words"):
        compare("a", "<", "b")
    assert [
        value_text(0.123),
        value_text(0.5, "percent"),
        value_text(2.0),
        value_text(1.256, "2"),
        value_text(True),
    ] == [
        "0.123",
        "50 %",
        "2",
        "1.26",
        "yes",
    ]
