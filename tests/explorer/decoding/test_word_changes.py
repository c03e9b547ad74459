"""Two versions of a sentence compared word by word."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.word_changes import WordSpan, changes_in_words, word_spans

WORDS = st.lists(st.sampled_from(["der", "Hund", "läuft", "im", "Park", "."]), max_size=7).map(" ".join)


@given(WORDS, WORDS)
def test_the_spans_are_both_sentences_and_neighbours_differ_in_kind(before: str, after: str) -> None:
    spans = word_spans(before, after)
    assert "".join(span.before for span in spans) == before
    assert "".join(span.after for span in spans) == after
    assert any(span.changed for span in spans) == (before != after)
    kinds = [span.changed for span in spans]
    assert all(one != two for one, two in pairwise(kinds))


def test_only_what_changed_is_marked() -> None:
    spans = word_spans("Zwei Kinder spielen Football.", "Zwei rote Kinder spielen.")
    assert [span for span in spans if span.changed] == [WordSpan("", "rote ", True), WordSpan("Football", "", True)]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a b", "a b", "No word changes."),
        ("a b c", "a x c", "“b” became “x”."),
        ("a b c", "a c d", "“b” is missing and “d” is new."),
        ("", "a b", "“a b” is new."),
        (
            "a 1 b 2 c 3 d 4 e 5 f 6",
            "a b c d e f",
            "“1” is missing, “2” is missing, “3” is missing, “4” is missing and there are 2 more changes.",
        ),
    ],
)
def test_the_changes_in_words(before: str, after: str, said: str) -> None:
    assert changes_in_words(word_spans(before, after)) == said
