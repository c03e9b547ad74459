"""BPE-dropout in training: words are resampled each epoch, and all else is as without it. Resumed runs: test_resume."""

from __future__ import annotations

from functools import partial

from model.data.batching import EncodedPairs
from tests.model.engine import string_setup, syllable_task

make = partial(string_setup, task=syllable_task(), bpe_dropout=0.3, snapshots=5, log_every=1, max_steps=20)


def test_validation_is_segmented_without_dropout() -> None:
    usual = make(bpe_dropout=0.0)
    assert make().valid.pairs == usual.valid.pairs
    assert isinstance(usual.corpus.pairs_of(3), EncodedPairs)
    assert usual.corpus.pairs_of(3) is usual.corpus.pairs


def test_batches_keep_to_the_resampled_lengths() -> None:
    """The budget of a batch, padding included, counts the tokens as segmented in this epoch."""
    corpus = make().corpus
    cut = {corpus.pairs.sources, *(corpus.pairs_of(epoch).sources for epoch in range(3))}
    assert len(cut) == 4, "each epoch is segmented anew"
    for epoch in range(3):
        lengths = corpus.pairs_of(epoch).lengths
        seen: list[int] = []
        for update in corpus.updates(epoch):
            for batch in update.shares[0]:
                longest = max(max(lengths[i]) for i in batch.indices)
                assert len(batch.indices) * longest <= corpus.max_tokens
                seen += batch.indices
        assert sorted(seen) == list(range(len(lengths)))
