"""Text and numbers as written for people, and text that stays text in Markdown."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from explorer.locale.text import count, fixed, percent, plain, plural, printable, quoted, two_decimals


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "aU+0000b"),
        ("\u202eevil", "U+202Eevil"),
        ("tab\t", "tabU+0009"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("\ud800", "U+D800"),
    ],
)
def test_control_and_reordering_characters_become_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert quoted(text) == f"“{shown}”"
    assert plain("Gr\u202eün\x07") == "GrU\\+202EünU\\+0007"
    assert plain("two\nlines\tand\rmore") == "two lines and more"
    assert plain("مرحبا 你好 👩‍👩‍👧") == "\u200eمرحبا\u200e 你好 👩‍👩‍👧", "and reorders nothing"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, "decoder layer"), "1 decoder layer"),
        ((2, "decoder layer"), "2 decoder layers"),
        ((0, "head"), "0 heads"),
        ((3, "query"), "3 queries"),
        ((3, "key"), "3 keys"),
        ((2, "match"), "2 matches"),
        ((2, "loss"), "2 losses"),
        ((1505, "sentence"), "1,505 sentences"),
        ((1, "hypothesis", "hypotheses"), "1 hypothesis"),
        ((2, "hypothesis", "hypotheses"), "2 hypotheses"),
    ],
)
def test_counted_nouns(given: tuple[Any, ...], expected: str) -> None:
    assert plural(*given) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (fixed(0.12345, 3), "0.123"),
        (fixed(-0.0004, 3), "0.000"),
        (fixed(-0.0004, 3, signed=True), "0.000"),
        (fixed(-0.0, 0), "0"),
        (fixed(0.125, 3, signed=True), "+0.125"),
        (fixed(-1.5, 1, signed=True), "−1.5"),
        (fixed(-3.25, 1, signed=True), "−3.3"),
        (two_decimals(0.0), "0.00"),
        (two_decimals(0.004), "< 0.01"),
        (two_decimals(64.055), "64.06"),
        (two_decimals(99.996), "> 99.99"),
        (two_decimals(100.0), "100.00"),
        (fixed(0.75, 1), "0.8"),
        (fixed(7.25, 1), "7.3"),
        (fixed(2.5, 0), "3"),
        (fixed(math.nan, 2), "nan"),
        (percent(0.374, 0), "37 %"),
        (percent(0.9968, 1), "99.7 %"),
        (percent(-1e-9, 1), "0.0 %"),
        (count(950), "950"),
        (count(12_345), "12.3 k"),
        (count(2_093_568), "2.09 M"),
    ],
)
def test_numbers_are_rounded_once_and_zero_has_no_sign(written: str, expected: str) -> None:
    assert written.replace("\u202f", " ") == expected


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_is_the_nearest_of_its_decimals(value: float, decimals: int) -> None:
    shown = fixed(value, decimals).replace("−", "-")
    assert abs(float(shown) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9) + 1e-9
    assert shown.startswith("-") == (float(shown) < 0)


@pytest.mark.parametrize(
    "text", ["www.evil.example", "see https://evil.example/x", "HTTP://a.example", "me@evil.example"]
)
def test_addresses_do_not_become_links(text: str) -> None:
    """Bare addresses are broken by an invisible joiner (GFM makes autolinks after it has processed escapes)."""
    shown = plain(text).replace("\\", "")
    assert shown.replace("\u2060", "") == text
    for start in ("www.", "http://", "https://", "@evil"):
        assert start not in shown.lower()


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60))
def test_escaped_text_has_no_markup(text: str) -> None:
    """CommonMark returns the characters themselves: only text tokens, in one paragraph."""
    inline = [token for token in MarkdownIt().parse("x" + plain(text)) if token.type == "inline"]
    assert len(inline) == 1
    assert {child.type for child in inline[0].children or []} <= {"text", "text_special"}
