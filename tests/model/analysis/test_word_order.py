"""Word order: shuffled tokens with and without positions, and sentences by length."""

from __future__ import annotations

import pytest
import torch

from model.analysis.word_order import by_length, longest, no_positions, shuffle
from model.config import EOS
from model.data.task import Example
from model.text.tokenizer import CharacterTokenizer
from tests.tiny import sources, tiny_model

IDS = (5, 6, 7, 8, 9, EOS)
ORDER = (3, 0, 4, 2, 1, 5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_without_positions_attention_follows_the_tokens(norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    bare = shuffle(model, IDS, ORDER, positions=False)
    assert bare.difference < 1e-6
    assert bare.path == bare.shuffled_path
    assert shuffle(model, IDS, ORDER).difference > 0.01
    assert shuffle(model, IDS, range(6)).difference == 0.0
    none, src = tiny_model(positions="none", norm_first=norm_first), sources(5, 3)  # nothing needs to be left out
    assert shuffle(none, IDS, ORDER).difference < 1e-6
    assert torch.equal(none.encode(src, tap=no_positions(none, src)), none.encode(src))
    for order in ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4, 4), (0, 1, 2, 3, 4, 6)):
        with pytest.raises(ValueError, match="names each of them once"):
            shuffle(model, IDS, order)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_lengths_are_counted(positions: str) -> None:
    texts = ["a", "b", "abc", "cab", "abcdefghi"]
    tokenizer = CharacterTokenizer.train(texts, lang="en")
    model = tiny_model(
        src_vocab_size=len(tokenizer), tgt_vocab_size=len(tokenizer), positions=positions, max_positions=8
    )
    examples = [Example(text, "never this") for text in texts]
    found = by_length(model, tokenizer, tokenizer, examples, most=2)
    assert [(length.tokens, length.sentences, length.right) for length in found] == [(1, 2, 0), (3, 2, 0), (9, 1, 0)]
    assert longest(examples, tokenizer) == 9
    assert longest([], tokenizer) == 0
