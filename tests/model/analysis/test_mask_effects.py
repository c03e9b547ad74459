"""Lifted masks: the codes on screen are the masks in use, lifting changes what it should, and runs are compared."""

from itertools import product

import numpy as np
import pytest
import torch

from model.analysis.mask_effects import (
    Switches,
    attention_to_future,
    mask_codes,
    most_ahead,
    read,
)
from model.config import EOS, PAD
from model.trace import VISIBLE
from tests.tiny import sources, targets, tiny_model

SWITCHES = [Switches(causal, padding) for causal, padding in product((True, False), repeat=2)]
KINDS = ("encoder", "decoder", "cross")


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
            assert torch.equal(kept["masked"][row] == torch.finfo(torch.float32).min, closed)
            assert torch.equal(kept["weights"][row] == 0, closed)
            assert torch.equal(kept["masked"][row][~closed], kept["scores"][row][~closed])


# Comparisons, on weights and decodings written by hand

WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.2, 0.3, 0.5]], dtype=np.float32)


def test_shares_of_attention_by_hand() -> None:
    """To the future, which is the upper triangle; and the head that looks ahead most."""
    assert attention_to_future(WEIGHTS) == pytest.approx((0.5 + 0.4 + 0) / 3)
    assert attention_to_future(WEIGHTS, np.array([True, False, True])) == pytest.approx(0.25)
    assert attention_to_future(np.tril(WEIGHTS)) == 0
    weights = np.zeros((2, 2, 3, 3), dtype=np.float32)
    weights[1, 0, [0, 1], [1, 2]] = 0.5, 1.0
    assert most_ahead(weights) == (1, 0, 0.75)
    assert most_ahead(np.ones((2, 3, 1, 1), dtype=np.float32)) == (0, 0, 1.0)
