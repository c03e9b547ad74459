"""Batches: each pair once, within the budget, the same for the same seed and epoch."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.config import EOS, PAD, SOS, DataConfig
from model.data.batching import EncodedPairs, batches, collate, encode_pairs, pad, resampling
from model.data.task import DataError, Example
from model.text.tokenizer import CharacterTokenizer
from model.text.tokenizer_kinds import build_tokenizers

lengths_lists = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=80)


@given(lengths=lengths_lists, budget=st.integers(1, 200), epoch=st.integers(0, 5), shuffle=st.booleans())
def test_each_pair_is_in_one_batch_within_the_budget(
    lengths: list[tuple[int, int]], budget: int, epoch: int, shuffle: bool
) -> None:
    made = batches(lengths, max_tokens=budget, seed=1, epoch=epoch, shuffle=shuffle)
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    assert made == batches(lengths, max_tokens=budget, seed=1, epoch=epoch, shuffle=shuffle)
    for batch in made:
        assert batch
        for side in (0, 1):
            assert len(batch) == 1 or len(batch) * max(lengths[i][side] for i in batch) <= budget


def test_pairs_of_similar_length_are_batched_together_by_seed_and_epoch() -> None:
    lengths = [(n % 30 + 1, n % 30 + 1) for n in range(3000)]
    made = batches(lengths, max_tokens=300, seed=0, epoch=0)
    padded = sum(len(batch) * max(lengths[i][0] for i in batch) for batch in made)
    assert padded <= 1.05 * sum(source for source, _ in lengths)
    assert made != batches(lengths, max_tokens=300, seed=0, epoch=1)
    assert made != batches(lengths, max_tokens=300, seed=1, epoch=0)


def test_pairs_are_collated_as_the_model_reads_them() -> None:
    source, target = CharacterTokenizer.train(["abc"]), CharacterTokenizer.train(["xyz"])
    pairs = encode_pairs([Example("ab", "x"), Example("c", "zyx"), Example("", "")], source, target)
    assert pairs.lengths == [(3, 2), (2, 4), (1, 1)]
    batch = collate(pairs, (0, 1))
    assert batch.src.tolist() == [[4, 5, EOS], [6, EOS, PAD]]
    assert batch.tgt_in.tolist() == [[SOS, 4, PAD, PAD], [SOS, 6, 5, 4]]
    assert batch.labels.tolist() == [[4, EOS, PAD, PAD], [6, 5, 4, EOS]]
    assert batch.src.dtype == torch.int64
    assert collate(pairs, (2,)).src.tolist() == [[EOS]]
    assert pad([[4], [5, 6]]).tolist() == [[4, PAD], [5, 6]]
    nothing = collate(EncodedPairs((), ()), ())
    assert nothing.src.shape == nothing.labels.shape == (0, 0)


def test_subwords_are_resampled_each_epoch_from_the_seed_alone() -> None:
    examples = [Example("the children are playing", "die Kinder spielen"), Example("  the  park", "der Park")] * 4
    config = DataConfig(tokenizer="subwords", src_lang="en", tgt_lang="de", vocab_size=320)
    source, target = build_tokenizers(config, [e.source for e in examples], [e.target for e in examples])
    whole = encode_pairs(examples, source, target)
    drawn = partial(resampling, examples, source, target, whole, dropout=0.5, seed=1, longest=99)
    pairs = drawn()
    first = pairs(0)
    assert first == pairs(0) == drawn()(0)
    assert first != pairs(1)
    assert first != drawn(seed=2)(0)
    assert [source.decode(ids) for ids in first.sources] == [e.source for e in examples]
    assert [target.decode(ids) for ids in first.targets] == [e.target for e in examples]
    assert drawn(dropout=0.0)(0) == whole
    assert drawn(longest=1)(0) == whole  # nothing longer than the model can place
    words = CharacterTokenizer.train(["abc"])
    with pytest.raises(DataError, match="needs tokenizer=subwords"):
        resampling([], words, words, whole, dropout=0.5, seed=1, longest=99)
