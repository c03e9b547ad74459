"""Pairs of words become pairs of tokens, and tell which head aligns."""

from __future__ import annotations

import pytest

from explorer.probing.sample import is_alignment, word_links
from model.analysis.word_alignment import aligned_tokens
from model.text.tokenizer import CharacterTokenizer, WhitespaceTokenizer


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-0", True), ("0-0  1-2 ", True), ("", False), ("0-0,1-1", False), ("a-b", False), ("0?0 1-1", True)],
)
def test_what_is_an_alignment(text: str, expected: bool) -> None:
    assert is_alignment(text) is expected


def test_words_that_are_tokens() -> None:
    tokenizer = WhitespaceTokenizer.train(["a b c"])
    links = word_links("0-1 2-0 2?1 7-0 0-9", "a b c", "c a")
    assert (links.sure, links.possible) == ({(0, 1), (2, 0)}, {(0, 1), (2, 0), (2, 1)})
    found = aligned_tokens(links, tokenizer.encode("a b c"), tokenizer.encode("c a"))
    assert found == ((2,), (0, 2))


def test_every_token_of_a_word_is_aligned() -> None:
    tokenizer = CharacterTokenizer.train(["ab c"])
    source, target = tokenizer.encode("ab c"), tokenizer.encode("c ab")
    assert len(source) == len(target) == 4
    found = aligned_tokens(word_links("0-1 1-0", "ab c", "c ab"), source, target)
    assert found[0] == (3,)
    assert found[2] == found[3] == (0, 1)
    assert found[1] == ()  # a space belongs to no word
