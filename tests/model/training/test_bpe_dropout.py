"""BPE-dropout in training: words are resampled each epoch, and all else is as without it. Resumed runs: test_resume."""

from __future__ import annotations

from functools import partial

from model.data.batching import EncodedPairs
from model.training.device import Runtime
from tests.model.engine import string_setup, syllable_task

make = partial(string_setup, task=syllable_task(), bpe_dropout=0.3, snapshots=5, log_every=1, max_steps=20)


def test_epochs_are_segmented_differently_but_hold_the_same_text() -> None:
    setup = make()
    corpus, source = setup.corpus, setup.source
    assert len(corpus.updates(0)) * 2 < 20, "the runs below see several epochs"
    epochs = [corpus.pairs_of(epoch) for epoch in (0, 1, 2)]
    assert len({epoch.sources for epoch in epochs} | {corpus.pairs.sources}) == 4
    for epoch in epochs:
        said = [(source.decode(s), setup.target.decode(t)) for s, t in zip(epoch.sources, epoch.targets, strict=True)]
        assert said == [(example.source, example.target) for example in setup.task.splits["train"]]
        assert sum(map(len, epoch.sources)) > sum(map(len, corpus.pairs.sources))


def test_validation_is_segmented_without_dropout() -> None:
    usual = make(bpe_dropout=0.0)
    assert make().valid.pairs == usual.valid.pairs
    assert isinstance(usual.corpus.pairs_of(3), EncodedPairs)
    assert usual.corpus.pairs_of(3) is usual.corpus.pairs


def test_batches_keep_to_the_resampled_lengths() -> None:
    """The budget of a batch, padding included, counts the tokens as segmented in this epoch."""
    corpus = make().corpus
    for epoch in range(3):
        lengths = corpus.pairs_of(epoch).lengths
        seen: list[int] = []
        for update in corpus.updates(epoch):
            for batch in update.shares[0]:
                longest = max(max(lengths[i]) for i in batch.indices)
                assert len(batch.indices) * longest <= corpus.max_tokens
                seen += batch.indices
        assert sorted(seen) == list(range(len(lengths)))


def test_both_processes_build_the_same_epochs() -> None:
    alone = make().corpus
    ranks = [make(runtime=Runtime(precision="fp32", threads=1, settled=True, processes=2)).corpus for _ in range(2)]
    for epoch in (0, 1):
        assert ranks[0].pairs_of(epoch) == ranks[1].pairs_of(epoch) == alone.pairs_of(epoch)
        assert ranks[0].updates(epoch) == ranks[1].updates(epoch)
