"""Lifted masks: the codes on screen are the masks in use, and lifting changes what it should."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from model.analysis.mask_effects import (
    Switches,
    decoder_attention,
    mask_codes,
    masks_for,
    padded_batch,
    read,
    translate_greedily,
)
from model.config import EOS, PAD
from model.trace import FUTURE, PADDING, VISIBLE
from tests.tiny import sources, targets, tiny_model

SWITCHES = [Switches(causal, padding) for causal, padding in product((True, False), repeat=2)]
KINDS = ("encoder", "decoder", "cross")
LOWEST = torch.finfo(torch.float32).min


def labels_of(tgt: torch.Tensor) -> torch.Tensor:
    shifted = torch.cat((tgt[:, 1:], torch.full((len(tgt), 1), PAD)), dim=1)
    ends = (shifted == PAD) & (tgt != PAD)
    return shifted.masked_fill(ends, EOS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("switches", SWITCHES)
def test_the_picture_is_the_mask_that_attention_used(switches: Switches, kind: str) -> None:
    """A closed cell has the lowest score and weight 0 in the run, for every sentence, layer and head."""
    model, src, tgt = tiny_model(), sources(6, 3), targets(5, 4)
    heads = [(kind, 0, 1), (kind, 1, 0)]
    found = read(model, src, tgt, labels_of(tgt), switches, details=heads)
    for row in range(2):
        codes = mask_codes(src, tgt, kind, row, switches)
        assert np.array_equal(codes == VISIBLE, found.masks.of(kind, row, len(codes)))
        for head in heads:
            (kept,) = found.recorder.details[head]
            closed = torch.from_numpy(codes != VISIBLE)
            assert torch.equal(kept["masked"][row] == LOWEST, closed)
            assert torch.equal(kept["weights"][row] == 0, closed)
            assert torch.equal(kept["masked"][row][~closed], kept["scores"][row][~closed])


def test_reasons() -> None:
    src, tgt = sources(4, 2), targets(3, 2)
    codes = mask_codes(src, tgt, "decoder", 1, Switches())
    assert codes.tolist() == [[VISIBLE, FUTURE, PADDING], [VISIBLE, VISIBLE, PADDING], [VISIBLE, VISIBLE, PADDING]]
    assert (mask_codes(src, tgt, "cross", 1, Switches())[:, 2:] == PADDING).all()
    assert (mask_codes(src, tgt, "decoder", 0, Switches(causal=False)) == VISIBLE).all()
    assert FUTURE in mask_codes(src, tgt, "decoder", 1, Switches(padding=False))


def test_with_all_masks_it_is_the_models_own_run() -> None:
    model, src, tgt = tiny_model(), sources(6, 3), targets(5, 4)
    labels = labels_of(tgt)
    found = read(model, src, tgt, labels, Switches())
    logits = model(src, tgt).index_fill(-1, torch.tensor([0, 1]), -torch.inf)
    expected = logits.softmax(dim=-1).gather(-1, labels[..., None])[..., 0] * (labels != PAD)
    torch.testing.assert_close(found.probabilities, expected, rtol=0, atol=1e-6)
    assert (found.losses[labels == PAD] == 0).all()


def test_a_lifted_triangle_lets_the_future_in_and_a_closed_one_does_not() -> None:
    model, src, tgt = tiny_model(), sources(6), targets(5)
    changed = tgt.clone()
    changed[0, 4] = 4 + (int(tgt[0, 4]) - 3) % 9
    for causal in (True, False):
        switches = Switches(causal=causal)
        before, after = (read(model, src, t, labels_of(tgt), switches).probabilities[0, 0] for t in (tgt, changed))
        assert (float(before) == float(after)) == causal


def test_open_padding_is_attended_to_and_changes_the_answer() -> None:
    model, src, tgt = tiny_model(), sources(6, 3), targets(5, 4)
    shut, opened = (read(model, src, tgt, labels_of(tgt), Switches(padding=p)) for p in (True, False))
    assert (shut.recorder.weights("encoder", row=1)[:, :, :, 3:] == 0).all()
    assert (opened.recorder.weights("encoder", row=1)[:, :, :, 3:] > 0).all()
    torch.testing.assert_close(shut.probabilities[0], opened.probabilities[0], rtol=0, atol=1e-6)
    assert not torch.allclose(shut.probabilities[1], opened.probabilities[1], atol=1e-3)


def test_closed_padding_does_not_change_the_answer() -> None:
    model = tiny_model()
    alone, padded, opened = (
        translate_greedily(model, (5, 6, 7, EOS), padding=n, closed=c) for n, c in ((0, True), (9, True), (9, False))
    )
    assert alone.path == padded.path
    assert alone.probabilities == pytest.approx(padded.probabilities, abs=1e-5)
    assert opened.probabilities[0] != pytest.approx(alone.probabilities[0], abs=1e-4)


def test_an_open_decoding_differs_after_the_same_first_token() -> None:
    model = tiny_model()
    closed, opened = translate_greedily(model, (5, 6, 7, EOS)), translate_greedily(model, (5, 6, 7, EOS), causal=False)
    assert opened.path[0] == closed.path[0], "the first token has no future to see"
    assert opened.probabilities[0] == pytest.approx(closed.probabilities[0], abs=1e-6)
    assert opened.probabilities[2] != pytest.approx(closed.probabilities[2], abs=1e-5)


def test_the_last_map_is_a_square_without_the_mask() -> None:
    model = tiny_model()
    opened, closed = (decoder_attention(model, (5, 6, EOS), (1, 5, 6), causal=c) for c in (False, True))
    assert opened.shape == closed.shape == (3, 4, 3, 3)
    assert (opened > 0).all()
    assert (closed[:, :, 0, 1:] == 0).all()


def test_a_batch_is_padded_as_training_pads_it() -> None:
    batch = padded_batch([(5, 6), (7,)], [(8, EOS), (9, 4, 8, EOS)])
    assert batch.src.tolist() == [[5, 6, EOS], [7, EOS, PAD]]
    assert batch.tgt.tolist() == [[1, 8, PAD, PAD], [1, 9, 4, 8]]
    assert batch.labels.tolist() == [[8, EOS, PAD, PAD], [9, 4, 8, EOS]]
    assert masks_for(batch.src, batch.tgt, Switches()).target.shape == (2, 1, 4, 4)
