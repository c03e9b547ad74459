"""Subwords: bytes for rare characters, words, dropout by a seed. What all kinds of tokenizers share: test_tokenizer."""

import random
from typing import Any

import pytest

from model.config import EOS, PAD, SOS, DataConfig
from model.text.pieces import TokenizerError
from model.text.subwords import FIRST_PIECE, SubwordTokenizer, train_joint
from model.text.tokenizer_kinds import build_tokenizers, tokenizer_from_dict

ENGLISH = (
    "Two young children are playing football in the park.",
    "A man in a blue shirt is standing on a ladder cleaning a window.",
    "The children don't like the playground, but the football players do!",
    "A young woman is reading a newspaper while standing in the snow.",
    "Young football players are standing in a line.",
) * 3
GERMAN = (
    "Zwei kleine Kinder spielen im Park Fußball.",
    "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
    "Die Kinder mögen den Spielplatz nicht, aber die Fußballspieler schon!",
    "Eine junge Frau liest im Schnee stehend eine Zeitung.",
    "Junge Fußballspieler stehen in einer Reihe.",
) * 3
CONFIG = DataConfig(tokenizer="subwords", src_lang="en", tgt_lang="de", vocab_size=450)
SOURCE, TARGET = train_joint(CONFIG, ENGLISH, GERMAN)


def test_words_are_cut_into_pieces_and_know_their_word() -> None:
    encoding = SOURCE.encode("The children don't play.")
    assert "".join(encoding.tokens) == "Thechildrendon'tplay."
    assert max(encoding.words) == 5
    surfaces = [encoding.text[start:end] for start, end in encoding.offsets]
    assert surfaces == list(encoding.tokens)
    assert [t for t, w in zip(encoding.tokens, encoding.words, strict=True) if w == 3] == ["n't"]
    assert SOURCE.words_of([SOS, *encoding.ids, EOS, PAD]) == (-1, *encoding.words, -1, -1)


def test_both_sides_share_one_vocabulary_and_split_words_as_their_language_does() -> None:
    assert SOURCE.pieces == TARGET.pieces
    assert (SOURCE.lang, TARGET.lang) == ("en", "de")
    assert len(SOURCE) <= CONFIG.vocab_size
    assert build_tokenizers(CONFIG, ENGLISH, GERMAN) == (SOURCE, TARGET)
    assert [SOURCE.label(i) for i in SOURCE.encode("football").ids] == ["football"]
    assert SOURCE.counts[SOURCE.pieces.index(" football")] == 9


def test_the_extremes_an_empty_corpus_a_typed_byte_and_a_word_of_many_thousand_letters() -> None:
    typed = "<0xC3> <eos> <pad>"
    for tokenizer in (SubwordTokenizer.train([]), SubwordTokenizer.train([typed] * 5, lang="xx", vocab_size=400)):
        assert tokenizer.decode(tokenizer.encode(typed).ids) == typed
    assert min(tokenizer.encode(typed).ids) >= FIRST_PIECE
    word = "football" * 5000
    ids = SOURCE.encode(word).ids  # merging it in one piece would outlast the test's time limit
    assert SOURCE.decode(ids) == word
    assert SOURCE.encode_with_dropout(SOURCE.keys(word), 0.0, random.Random(0)) == ids


def test_a_vocabulary_without_room_for_the_alphabet_is_refused() -> None:
    with pytest.raises(TokenizerError, match=r"vocab_size=261 has no room .* set it to 263 or more"):
        SubwordTokenizer.train(["ab ab ab"], vocab_size=261)
    assert len(SubwordTokenizer.train(["ab ab ab"], vocab_size=263)) == 263


GOOD: dict[str, Any] = SubwordTokenizer.train(["ab ab ab"]).to_dict()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"alphabet": ["a", "b"]}, "the space among its"),
        ({"alphabet": [" ", "ab"]}, "expected `str` of length <= 1"),
        ({"alphabet": [" ", "a", "a"]}, "'a' twice among its pieces"),
        ({"merges": [["a", "z"]]}, "merge 1 of the tokenizer is"),
        ({"merges": [["a"]]}, "expected `array` of length 2"),
        ({"merges": [["a", " "]]}, "no word can hold"),
        ({"counts": [1, 2]}, "2 'counts' for"),
        ({"pieces": []}, "unknown field `pieces`"),
        (
            {"alphabet": [" ", "a"], "merges": [["a" * 2**n, "a" * 2**n] for n in range(12)]},
            r"merge 10 .* no word can hold",
        ),
    ],
)
def test_hostile_json_gets_a_message(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TokenizerError, match=sentence):
        tokenizer_from_dict({**GOOD, **change})
