"""Text and numbers as written for people, and text that stays text in Markdown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from explorer.locale.text import count, fixed, listed, percent, plain, plural, printable, quoted, why


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (950, "950"), (12_345, "12.3 k"), (2_093_568, "2.09 M")])
def test_count(number: int, said: str) -> None:
    assert count(number) == said


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


def test_a_quoted_token_is_set_apart_and_cannot_reorder_the_sentence() -> None:
    assert f"{quoted('.')} looks at {quoted('10')}." == "“.” looks at “10”."
    assert quoted("\u202eevil") == "“U+202Eevil”"


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (1, "decoder layer", "1 decoder layer"),
        (2, "decoder layer", "2 decoder layers"),
        (0, "head", "0 heads"),
        (3, "query", "3 queries"),
        (3, "key", "3 keys"),
        (2, "match", "2 matches"),
        (2, "loss", "2 losses"),
        (1505, "sentence", "1,505 sentences"),
    ],
)
def test_counted_nouns(number: int, noun: str, expected: str) -> None:
    assert plural(number, noun) == expected


def test_an_irregular_plural_is_given() -> None:
    assert plural(1, "hypothesis", "hypotheses") == "1 hypothesis"
    assert plural(2, "hypothesis", "hypotheses") == "2 hypotheses"


@pytest.mark.parametrize(
    ("items", "expected"), [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_lists(items: tuple[str, ...], expected: str) -> None:
    assert listed(items) == expected
    assert listed(iter(items), "or") == expected.replace("and", "or")


@pytest.mark.parametrize(
    ("value", "decimals", "signed", "expected"),
    [
        (0.12345, 3, False, "0.123"),
        (-0.0004, 3, False, "0.000"),
        (-0.0004, 3, True, "0.000"),
        (0.0, 2, True, "0.00"),
        (-0.0, 0, False, "0"),
        (0.125, 3, True, "+0.125"),
        (-1.5, 1, True, "-1.5"),
        (100.0, 0, False, "100"),
        (math.nan, 2, False, "nan"),
    ],
)
def test_numbers_are_rounded_once_and_zero_has_no_sign(
    value: float, decimals: int, signed: bool, expected: str
) -> None:
    assert fixed(value, decimals, signed=signed) == expected


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_is_the_nearest_of_its_decimals(value: float, decimals: int) -> None:
    shown = fixed(value, decimals)
    assert abs(float(shown) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9) + 1e-9
    assert shown.startswith("-") == (float(shown) < 0)


@pytest.mark.parametrize(
    ("share", "decimals", "expected"), [(0.374, 0, "37 %"), (0.9968, 1, "99.7 %"), (0.0, 0, "0 %"), (-1e-9, 1, "0.0 %")]
)
def test_percentages(share: float, decimals: int, expected: str) -> None:
    assert percent(share, decimals) == expected


def test_our_own_errors_speak_for_themselves_and_the_systems_name_file_and_reason() -> None:
    assert why(ValueError("The head is missing.")) == "The head is missing."
    full = OSError(28, "No space left on device", "/somewhere/deep/config.json")
    assert why(full) == (
        "config.json cannot be written: the disk is full, or your share of it. Free some space and try again."
    )


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


def test_text_on_a_page_cannot_reorder_what_stands_around_it() -> None:
    assert plain("Gr\u202eün\x07") == "GrU\\+202EünU\\+0007"
    assert plain("two\nlines\tand\rmore") == "two lines and more"
    assert plain("مرحبا 你好 👩‍👩‍👧") == "مرحبا 你好 👩‍👩‍👧"
