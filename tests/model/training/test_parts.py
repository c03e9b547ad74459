"""The pure parts of training: schedule, loss, randomness, batches of an update, snapshots, settings."""

import itertools
import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from model.config import ConfigError, TrainConfig
from model.data.batching import EncodedPairs
from model.fast import cross_entropy as loss
from model.fast.cross_entropy import projected_cross_entropy
from model.training.corpus import Corpus
from model.training.evaluation import is_better
from model.training.randomness import start_stream, stream_seed
from model.training.schedule import curve, learning_rate
from model.training.settings import parse_assignments
from model.training.snapshots import how_many, planned_steps, thinned
from tests.model.engine import string_setup, syllable_task


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "constant", "cosine"])
@pytest.mark.parametrize("warmup", [1, 7, 100])
def test_the_highest_rate_is_reached_at_warm_up_and_never_passed(schedule: str, warmup: int) -> None:
    config = TrainConfig(schedule=schedule, warmup_steps=warmup, learning_rate=3e-3, max_steps=400)
    rates = [learning_rate(config, step) for step in range(1, 401)]
    assert rates[warmup - 1] == max(rates) == 3e-3
    assert all(early < late for early, late in itertools.pairwise(rates[:warmup]))
    assert (min(rates[warmup - 1 :]) == 3e-3) == (schedule == "constant")
    cosine = 3e-3 * (1 + math.cos(math.pi * (200 - warmup) / (400 - warmup))) / 2
    at_once = TrainConfig(schedule=schedule, warmup_steps=0, learning_rate=3e-3, max_steps=400)
    assert learning_rate(at_once, 1) == pytest.approx(3e-3, rel=1e-4)
    if schedule == "inverse_sqrt":  # the formula of the paper, for the width that has this peak
        d_model = 1 / (3e-3**2 * warmup)
        paper = [d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) for step in range(1, 401)]
        assert rates == pytest.approx(paper, rel=1e-12)
    assert schedule != "cosine" or rates[199] == pytest.approx(cosine, rel=0.01)


def test_the_curve_shows_both_ends_and_the_peak() -> None:
    config = TrainConfig(max_steps=5000, warmup_steps=333)
    points = curve(config)
    assert len(points) <= 101
    steps = [step for step, _ in points]
    assert (steps[0], steps[-1]) == (1, 5000)
    assert (333, config.learning_rate) in points


@given(smoothing=st.sampled_from([0.0, 0.1, 0.5]), seed=st.integers(0, 9), slice_logits=st.sampled_from([1, 10**6]))
def test_label_smoothing_is_pytorchs(smoothing: float, seed: int, slice_logits: int) -> None:
    """Value and both gradients, whether the rows fit into one slice or need several."""
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(150, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(11, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, 11, (150,), generator=generator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(loss.SLICE_LOGITS, "cpu", slice_logits)
        ours, nll = projected_cross_entropy(hidden, weight, labels, smoothing)
    logits = hidden @ weight.T
    theirs = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*(torch.autograd.grad(3 * each, (hidden, weight)) for each in (ours, theirs)))
    torch.testing.assert_close(nll, F.cross_entropy(logits, labels, reduction="sum").detach())
    assert not nll.requires_grad, "it is a measurement"
    sure = torch.tensor([[300.0], [-300.0]], requires_grad=True)  # of the right token, and of another
    found, nll = projected_cross_entropy(sure, torch.tensor([[1.0], [-1.0]]), torch.tensor([0, 0]), 0.0)
    assert (found.item(), nll.item()) == pytest.approx((600.0, 600.0))
    torch.testing.assert_close(torch.autograd.grad(found, sure)[0], torch.tensor([[0.0], [-2.0]]))


def test_streams_depend_on_their_purpose_alone() -> None:
    seeds = {
        stream_seed(seed, purpose, step) for seed in (1, 2) for purpose in ("order", "update") for step in range(50)
    }
    assert len(seeds) == 200
    assert stream_seed(1, "update", 12) != stream_seed(1, "update", 1, 2)
    start_stream(7, "update", 3)
    first = torch.rand(4)
    torch.rand(100)
    start_stream(7, "update", 3)
    assert torch.equal(first, torch.rand(4))


def corpus(n: int, **settings: int) -> Corpus:
    pairs = EncodedPairs(tuple((5,) * (1 + i % 7) for i in range(n)), tuple((5,) * (1 + i % 5) for i in range(n)))
    usual = {"seed": 3, "max_tokens": 40, "gradient_accumulation_steps": 1, "processes": 1}
    return Corpus(pairs, **(usual | settings))


@given(n=st.integers(1, 60), rounds=st.integers(1, 4), processes=st.integers(1, 4), epoch=st.integers(0, 3))
def test_each_example_is_seen_once_an_epoch_over_all_processes(n: int, rounds: int, processes: int, epoch: int) -> None:
    made = corpus(n, gradient_accumulation_steps=rounds, processes=processes)
    seen = []
    for update in made.updates(epoch):
        assert len(update.shares) == processes
        assert len({len(share) for share in update.shares}) == 1, "every process takes part in every round"
        own = [batch for share in update.shares for batch in share if batch.weight]
        assert 1 <= len(own) <= rounds * processes
        counted = [i for batch in own for i in batch.indices]
        seen += counted
        assert update.target_tokens == sum(len(made.pairs.targets[i]) + 1 for i in counted)
        assert update.tokens == update.target_tokens + sum(len(made.pairs.sources[i]) + 1 for i in counted)
    assert sorted(seen) == list(range(n))


@given(max_steps=st.integers(1, 10_000), count=st.integers(0, 20), fewer=st.integers(2, 16))
def test_snapshots_are_few_ordered_and_show_both_ends(max_steps: int, count: int, fewer: int) -> None:
    steps = planned_steps(max_steps, count)
    assert len(steps) <= count
    assert steps == sorted(set(steps))
    if count >= 2:
        kept = thinned(steps, fewer)
        assert set(kept) <= set(steps)
        assert len(kept) == min(fewer, len(steps))
        assert (steps[0], steps[-1]) == (kept[0], kept[-1]) == (0, max_steps)
        chosen = steps[len(steps) // 2]
        assert chosen in thinned(steps, max(fewer, 3), chosen)
    config = TrainConfig(snapshots=16, snapshot_megabytes=10)
    assert [how_many(config, size) for size in (100_000, 1_000_000, 100_000_000)] == [16, 5, 0]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("d_modle=3", "Did you mean 'd_model'"),
        ("learning-rate=3", "Did you mean 'learning_rate'"),
        ("d_model", "key=value"),
        ("=3", "key=value"),
        ("src_vocab_size=9", "counted from the data"),
        ("task=copy", "use --task"),
    ],
)
def test_an_unknown_setting_names_the_nearest(word: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse_assignments([word])


def test_better_means_the_configured_score_then_the_loss() -> None:
    by_match = TrainConfig(select_by="exact_match")
    assert is_better({"exact_match": 0.5, "loss": 9.0}, {}, by_match)
    assert is_better({"exact_match": 0.6, "loss": 9.0}, {"exact_match": 0.5, "loss": 1.0}, by_match)
    assert is_better({"exact_match": 0.5, "loss": 0.9}, {"exact_match": 0.5, "loss": 1.0}, by_match)
    assert not is_better({"exact_match": 0.5, "loss": 1.0}, {"exact_match": 0.5, "loss": 1.0}, by_match)
    assert not is_better({"exact_match": 0.9, "loss": 1.1}, {"exact_match": 0.5, "loss": 1.0}, TrainConfig())
    assert not is_better({"exact_match": 0.9, "loss": math.nan}, {"exact_match": 0.5, "loss": 1.0}, TrainConfig())


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
