"""Two versions of a sentence in words: what became what, what is new, missing, or stands elsewhere."""

import pytest

from explorer.decoding.word_changes import changes_in_words, word_spans


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a dog runs", "a dog runs", "No word changes."),
        ("a dog runs", "a cat runs", "“dog” became “cat”."),
        ("a dog runs", "a big dog runs", "“big” is new."),
        ("a big dog runs", "a dog runs", "“big” is missing."),
        ("Kinder spielen im Park Football.", "Kinder spielen Football im Park.", "“Football” stands elsewhere."),
        # It was there once, and now stands twice at other places: only one of these is the former.
        ("x a b c d", "a b x c d x", "“x” stands elsewhere and “x” is new."),
        ("x a b c d x", "a b c x d", "“x” stands elsewhere and “x” is missing."),
        ("x a b c", "a b c y", "“x” is missing and “y” is new."),
        (
            "1 a 2 b 3 c 4 d 5 e",
            "a b c d e",
            "“1” is missing, “2” is missing, “3” is missing, “4” is missing and there is 1 more change.",
        ),
    ],
)
def test_changes_are_named_and_a_word_that_moved_is_neither_new_nor_missing(before: str, after: str, said: str) -> None:
    assert changes_in_words(word_spans(before, after)) == said
