"""The words of the sentences that the app opens with: the first picture does not wait for spaCy.

Importing spaCy and its rules of two languages takes as long as half of torch. Whatever is not listed here is split by
spaCy itself, which a test compares with this list.
"""

from __future__ import annotations

from collections.abc import Iterator

# By language and text: the words, with one space between them.
OPENING_WORDS = {
    ("en", "Two young children are playing football in the park."): (
        "Two young children are playing football in the park ."
    ),
    ("de", "Zwei kleine Kinder spielen im Park Football."): "Zwei kleine Kinder spielen im Park Football .",
}


def spans_in(text: str, words: str) -> Iterator[tuple[int, int]]:
    """Where each of `words` stands in `text`, in order."""
    end = 0
    for word in words.split():
        start = text.index(word, end)
        end = start + len(word)
        yield start, end
