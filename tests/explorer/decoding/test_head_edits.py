"""The edits that the model is given for changes to heads."""

from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from explorer.decoding.head_change import Change, added, from_link, to_link
from explorer.decoding.head_edits import digest_of, edits_for, moved_by
from explorer.decoding.translator import Translator
from explorer.probing.sample import subsample
from model.analysis.importance import mean_outputs
from model.analysis.operations import added_positions, record
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


@pytest.mark.parametrize(("kind", "side"), [("encoder", "src"), ("decoder", "tgt")])
def test_a_moved_token_has_the_vector_of_its_new_position_and_no_other_has(
    reverse: Translator, kind: Any, side: str
) -> None:
    change = Change(kind, 0, 0, "position", row=2, to=5)
    assert from_link(to_link((change,))) == ((change,), [])
    model = reverse.loaded.model
    edit = edits_for((change,), model.config, Mock(), lambda asked: moved_by(model, asked))
    shown = reverse.translate(TEXT, DecodeConfig(), edit=edit)
    assert shown.trace.edits == (f"{'source' if side == 'src' else 'target'} token 2 at position 5",)
    own, moved = (record(model, shown.source.ids, shown.path, len(shown.path), edit=each) for each in (None, edit))
    point = f"{side}.positions"
    table = added_positions(model, own)[point]
    difference = (moved[point].value - own[point].value)[0].numpy()
    assert np.allclose(difference[1], table[4] - table[1], atol=1e-5)
    assert not np.delete(difference, 1, axis=0).any()
    assert np.allclose(added_positions(model, moved)[point], np.vstack([table[:1], table[4:5], table[2:]]), atol=1e-6)
    # What was decoded step by step is what the machine records at once.
    recorded = moved["decoder.0.cross_attn.weights"].value[0].numpy()
    assert np.allclose(recorded, shown.trace.cross[0], atol=1e-5)
    back = Change(kind, 0, 0, "position", row=2, to=2)
    assert added((change,), (back,)) == (back,)
