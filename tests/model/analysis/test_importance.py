"""Importance of heads, compared with heads switched off by hand, numeric derivatives and loops."""

from unittest import mock

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model.analysis import bootstrap
from model.analysis.importance import (
    ablate_each,
    batches_of,
    edited_loss,
    heads_of,
    mean_ablate_each,
    mean_outputs,
    without,
)
from model.config import ATTENTION_KINDS, EOS, SOS
from model.data.batching import EncodedPairs, collate
from model.recording import AttentionRecorder
from model.tap import Tap
from model.transformer import Transformer
from tests.tiny import random_ids, tiny_model


def some_pairs() -> EncodedPairs:
    ids = [tuple(random_ids(n, seed=n).tolist()) for n in (3, 6, 4, 1)]
    outs = [tuple(random_ids(n, seed=n + 50).tolist()) for n in (5, 2, 4, 3)]
    return EncodedPairs(tuple(ids), tuple(outs))


def nll(model: Transformer, pairs: EncodedPairs, index: int, tap: Tap | None = None) -> torch.Tensor:
    """-log p(y | x) of one pair by itself, in nats."""
    src = torch.tensor([[*pairs.sources[index], EOS]])
    logits = model(src, torch.tensor([[SOS, *pairs.targets[index]]]), tap=tap)
    return F.cross_entropy(logits[0].double(), torch.tensor([*pairs.targets[index], EOS]), reduction="sum")


def test_ablation_is_the_change_of_the_loss_with_one_head_switched_off() -> None:
    """That switching off is a missing slice of W_O: test_edits.py."""
    model, pairs = tiny_model(), some_pairs()
    found, by_mean = ablate_each(model, pairs), mean_ablate_each(model, pairs)
    means = mean_outputs(model, pairs, heads_of(model.config))
    tokens = sum(len(target) + 1 for target in pairs.targets)
    assert {kind: values.shape for kind, values in found.loss_change.items()} == {
        kind: (model.config.n_layers(kind), model.config.n_heads(kind)) for kind in ATTENTION_KINDS
    }
    assert len(heads_of(model.config)) == 2 * 2 + 2 * 3 * 4
    with torch.inference_mode():
        whole = sum(float(nll(model, pairs, i)) for i in range(len(pairs))) / tokens
        assert found.loss == pytest.approx(whole, rel=1e-5)
        for kind, layer, head in heads_of(model.config):
            for changes, values in ((found.loss_change[kind], None), (by_mean[kind].value, means)):
                off = without([(kind, layer, head)], values).tap(model.config)
                loss = sum(float(nll(model, pairs, i, off)) for i in range(len(pairs))) / tokens
                assert changes[layer, head] == pytest.approx(loss - whole, abs=1e-5)


def test_changes_have_intervals_over_sentences() -> None:
    model, pairs = tiny_model(), some_pairs()
    found = ablate_each(model, pairs)
    head = ("cross", 1, 2)
    whole, other = edited_loss(model, pairs, None), edited_loss(model, pairs, without([head]))  # type: ignore[list-item]
    tokens = np.array([len(target) + 1 for target in pairs.targets])
    with torch.inference_mode():
        singles = [float(nll(model, pairs, i)) for i in range(len(pairs))]
    assert np.allclose(whole.nll, singles, atol=1e-4)
    assert np.array_equal(whole.tokens, tokens)
    resampled = [(drawn @ (other.nll - whole.nll)) / (drawn @ tokens) for drawn in bootstrap.resamples(len(pairs))]
    value, low, high = found.loss_interval["cross"].at(1, 2)
    assert value == pytest.approx(other.loss - whole.loss, abs=1e-6)
    assert [low, high] == pytest.approx(np.percentile(resampled, [2.5, 97.5]).tolist(), abs=1e-6)
    assert whole.loss_change(other).at() == pytest.approx((value, low, high), abs=1e-6)


def test_mean_outputs_leave_padding_out() -> None:
    model, pairs = tiny_model(), some_pairs()
    heads = [("encoder", 1, 0), ("decoder", 0, 3), ("cross", 2, 1)]
    found = mean_outputs(model, pairs, heads)
    for kind, layer, head in heads:
        rows = []
        for i in range(len(pairs)):
            recorder = AttentionRecorder(details=[(kind, layer, head)])  # type: ignore[list-item]
            batch = collate(pairs, [i])
            with torch.inference_mode():
                model(batch.src, batch.tgt_in, tap=recorder)
            rows.append(recorder.details[kind, layer, head][0]["output"][0])
        assert np.allclose(found[kind, layer, head], torch.cat(rows).mean(0).numpy(), atol=1e-5)


def test_a_stop_is_checked_before_each_batch_and_nothing_to_measure_on_is_an_error() -> None:
    model, pairs, nothing = tiny_model(), some_pairs(), EncodedPairs((), ())
    check = mock.Mock(side_effect=[None, None, KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt):
        ablate_each(model, pairs, check=check)
    assert check.call_count == 3
    assert sum(batch.src.size(0) for batch in batches_of(pairs)) == len(pairs)
    for function in (ablate_each, lambda *given: mean_outputs(given[0], given[1], [("cross", 0, 0)])):
        with pytest.raises(ValueError, match="no sentence pairs"):
            function(model, nothing)
