"""What follows from each scheme of positions, for scores, for tables and for shuffled words."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.analysis.word_order import by_length, longest, no_positions, shuffle
from model.config import EOS
from model.data.task import Example
from model.positions import PositionalEncoding, rotate, rotations, sinusoidal_table
from model.text.tokenizer import CharacterTokenizer
from tests.tiny import sources, tiny_config, tiny_model

even = st.integers(1, 32).map(lambda half: 2 * half)
bases = st.sampled_from([2.0, 10.0, 10_000.0, 1e6])


@given(length=st.integers(2, 100), d_model=even, base=bases, data=st.data())
def test_one_rotation_moves_every_row(length: int, d_model: int, base: float, data: st.DataObject) -> None:
    offset = data.draw(st.integers(1, length - 1))
    table = sinusoidal_table(length, d_model, base)
    turned = rotate(table[:-offset], rotations(offset, d_model, base))
    assert turned.dtype == torch.float64
    assert (turned - table[offset:]).abs().max() < 1e-10
    one, rest, whole = (rotations(k, d_model, base) for k in (1, offset - 1, offset))
    torch.testing.assert_close(one @ rest, whole, rtol=0, atol=1e-11)
    torch.testing.assert_close(one @ one.transpose(-2, -1), torch.eye(2).double().expand_as(one), rtol=0, atol=1e-12)


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


CONFIG = tiny_config(max_positions=20)


def test_the_table_has_the_rows_that_the_model_adds() -> None:
    table, rows = sinusoidal_table(20, 16), PositionalEncoding(CONFIG).table(20)
    assert rows is not None
    assert (table - rows.to(table)).abs().max() < 2**-24, "what rounding to float32 takes off a number of at most 1"
