"""The edits that the model is given for changes to heads."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from explorer.decoding.head_change import Change
from explorer.decoding.head_edits import digest_of, edits_for
from explorer.decoding.translator import Translator
from explorer.probing.sample import subsample
from model.analysis.importance import mean_outputs
from model.analysis.recorded_batches import written_sample
from model.checkpoint import load_model
from model.config import EOS, DecodeConfig
from model.data import get_task
from model.edits import HeadEdit, HeadEdits
from model.recording import AttentionRecorder
from model.tap import compose
from model.trace import AttentionTrace
from tests.explorer.edited import edits_of
from tests.paths import ROOT

TEXT = "headlight"


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


def edited(reverse: Translator, *change: Any, **values: Any) -> AttentionTrace:
    edit = edits_of(reverse, TEXT, Change(*change, **values))
    return reverse.translate(TEXT, DecodeConfig(), edit=edit).trace


def test_a_row_edited_by_hand_is_the_row_that_the_model_uses(reverse: Translator) -> None:
    trace = edited(reverse, "cross", 1, 1, "row", row=2, weights=(0, 500, 500))
    assert np.allclose(trace.cross[0, 0, 1], [0, 0.5, 0.5, *[0] * 7])
    own = reverse.translate(TEXT, DecodeConfig()).trace
    assert np.allclose(trace.cross[0, 0, 0], own.cross[0, 0, 0], atol=1e-6)
    decoder = edited(reverse, "decoder", 1, 1, "row", row=2, weights=(100, 300, 600, 900)).decoder[0, 0, 1]
    assert np.allclose(decoder[:2], [0.25, 0.75])
    assert not decoder[2:].any(), "it stays within what it may see"


def test_a_pattern_from_another_sentence(reverse: Translator) -> None:
    other = reverse.translate("attention", DecodeConfig()).trace
    encoder = edited(reverse, "encoder", 2, 3, "pattern", other="attention").encoder
    assert np.allclose(encoder[1, 2], other.encoder[1, 2], atol=1e-6)
    decoder = edited(reverse, "decoder", 1, 2, "pattern", other="attention").decoder[0, 1]
    rows = min(len(decoder), len(other.decoder[0, 1]))
    assert np.allclose(decoder[:rows, :rows], other.decoder[0, 1][:rows, :rows], atol=1e-6)


def test_a_patched_output_is_that_of_the_other_sentence(reverse: Translator) -> None:
    head = ("encoder", 1, 2)
    change = Change("encoder", 2, 3, "output", other="attention")
    recorder, plain = AttentionRecorder(details=[head]), AttentionRecorder(details=[head])  # type: ignore[list-item]
    model = reverse.loaded.transformer

    def ids(text: str) -> torch.Tensor:
        return torch.tensor([[*reverse.loaded.source.encode(text).ids, EOS]])

    with torch.inference_mode():
        model.encode(ids(TEXT), tap=compose(edits_of(reverse, TEXT, change).tap(model.config), recorder))
        model.encode(ids("attention"), tap=plain)
    assert torch.allclose(recorder.details[head][0]["output"], plain.details[head][0]["output"], atol=1e-6)


def test_the_mean_of_a_head_comes_from_the_sample(reverse: Translator) -> None:
    loaded = reverse.loaded
    sample = subsample(written_sample(get_task("reverse").splits["test"], loaded.source, loaded.target, 100), 20)
    means = Mock(side_effect=partial(mean_outputs, loaded.transformer, sample.pairs))
    (made,) = edits_for((Change("cross", 1, 2, "mean"),), loaded.model_config, means, Mock()).edits
    ((asked,), _) = means.call_args
    assert list(asked) == [("cross", 0, 1)]
    assert made.values is not None
    assert made.values.shape == (32,)


def test_edits_have_a_name_that_their_values_are_subsample() -> None:
    def row(values: list[float]) -> HeadEdits:
        return HeadEdits((HeadEdit("cross", 0, 0, "row", row=1, values=np.array(values, dtype=np.float32)),))

    assert digest_of(row([0.25, 0.75])) == digest_of(row([0.25, 0.75]))
    named = [
        row([0.25, 0.75]),
        row([0.75, 0.25]),
        row([0.25, 0.75, 0.0]),
        HeadEdits(),
        HeadEdits((HeadEdit("cross", 0, 0, "zero"),)),
    ]
    assert len({digest_of(edits) for edits in named}) == len(named)
