"""Samples processed in batches give the same numbers as one sentence at a time."""

from unittest import mock

import numpy as np
import pytest

from model.analysis.recorded_batches import observe, translated_sample, written_sample
from model.checkpoint import LoadedModel, load_model
from model.config import ATTENTION_KINDS, DecodeConfig
from model.data import get_task
from model.data.task import Example
from model.decoding.decode import decode_recorded
from tests.paths import CHECKPOINTS


@pytest.fixture(scope="module")
def reverse() -> LoadedModel:
    return load_model(CHECKPOINTS / "reverse")


def read(loaded: LoadedModel, sample, models=None):
    found = observe(models or [loaded.model], sample, loaded.source, loaded.target)
    return {index: (item, weights) for index, item, weights in found}


def test_translations_read_in_batches_equal_one_decoding_at_a_time(reverse: LoadedModel) -> None:
    texts = ["abc", "headlight", "z", "attention", "banana"]
    sample = translated_sample(reverse.model, texts, reverse.source)
    found = read(reverse, sample)
    assert sorted(found) == [0, 1, 2, 3, 4]
    for i, text in enumerate(texts):
        alone = decode_recorded(reverse.model, reverse.source.encode(text), reverse.target, DecodeConfig()).trace
        trace = found[i][0].trace
        for kind in ATTENTION_KINDS:
            assert np.allclose(trace.weights(kind), alone.weights(kind), atol=1e-5)
            assert np.array_equal(trace.mask(kind), alone.mask(kind))
            assert np.allclose(trace.weights(kind).sum(-1), 1, atol=1e-5), "padding gets no weight"
        assert trace.src_tokens == alone.src_tokens
        assert trace.read_tokens == alone.read_tokens
        assert trace.predicted_tokens == alone.predicted_tokens
        assert (trace.src_words, trace.tgt_words) == (alone.src_words, alone.tgt_words)


def test_alignments_and_counts_come_along(reverse: LoadedModel) -> None:
    sample = written_sample([Example("abca", "acba", ((3,), (2,), (1,), (0,)))], reverse.source, reverse.target, 20)
    item = read(reverse, sample)[0][0]
    assert item.alignment == ((3,), (2,), (1,), (0,))
    assert item.src_counts[0] == item.src_counts[3] == reverse.source.counts[reverse.source.encode("a").ids[0] - 4]
    assert item.src_counts[-1] == 0
    assert len(item.read_ids) == 5
    unfit = written_sample([Example("ab", "ba", ((0,),))], reverse.source, reverse.target, 20)
    assert unfit.alignments == (None,)


def test_what_is_empty_or_too_long_is_left_out_and_counted(reverse: LoadedModel) -> None:
    examples = [Example("", "a"), Example("ab", "ba"), Example("a" * 30, "a"), Example("a", "a" * 30), Example("a", "")]
    sample = written_sample(examples, reverse.source, reverse.target, 20)
    assert (len(sample), sample.left_out) == (1, 4)
    texts = ["", "ab", "a" * reverse.model_config.max_positions]
    sample = translated_sample(reverse.model, texts, reverse.source, references=["", "ba"])
    assert (len(sample), sample.left_out, sample.references) == (1, 2, ("ba",))
    nothing = written_sample([], reverse.source, reverse.target, 20)
    assert not read(reverse, nothing)
    check = mock.Mock(side_effect=[None, None, KeyboardInterrupt])  # before each batch
    texts = [example.source for example in get_task("reverse").splits["test"][::4]]
    with pytest.raises(KeyboardInterrupt):
        translated_sample(reverse.model, texts, reverse.source, check=check)
    assert check.call_count == 3


def test_a_decoder_that_sees_the_future_says_so() -> None:
    loaded = load_model(CHECKPOINTS / "adjective-swap-unmasked")
    sample = written_sample(get_task("adjective-swap").splits["test"][:1], loaded.source, loaded.target, 20)
    item = read(loaded, sample)[0][0]
    assert not item.trace.decoder_mask.any()
    assert np.triu(item.trace.decoder[0, 0], 1).any()
