"""Function and content words by closed lists."""

from __future__ import annotations

import pytest

from explorer.probing.syntax import classes_of, function_words, languages, word_class
from model.text.tokenizer import Encoding


@pytest.mark.parametrize(
    ("word", "lang", "wanted"),
    [
        ("The", "en", "function"),
        ("dog", "en", "content"),
        ("can’t", "en", "function"),
        ("unter", "de", "function"),
        ("Unter", "de", "function"),
        ("Hund", "de", "content"),
        ("der", "en", "content"),
        ("elle", "fr", "function"),
        ("42", "de", "content"),
        ("...", "de", "punctuation"),
    ],
)
def test_the_class_of_a_word(word: str, lang: str, wanted: str) -> None:
    assert word_class(word, lang) == wanted


def test_a_token_has_the_class_of_its_whole_word() -> None:
    sentence = Encoding((4, 5, 6, 7), ("Un", "ser", "der", "bach"), ((0, 2), (2, 5), (6, 9), (9, 13)), (0, 0, 1, 1), "")
    sentence = Encoding(sentence.ids, sentence.tokens, sentence.offsets, sentence.words, "Unser derbach")
    assert classes_of([sentence], "de") == [("function", "function", "content", "content")]
    assert classes_of([sentence], "xx") is None


def test_the_lists_hold_words_in_lower_case() -> None:
    assert languages() == "de, en and fr"
    for words in function_words().values():
        assert len(words) > 80
        assert all(word == word.lower().strip() and any(map(str.isalpha, word)) for word in words)
