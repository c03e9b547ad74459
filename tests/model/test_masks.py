from __future__ import annotations

import torch

from model.config import EOS, PAD, SOS, UNK
from model.masks import causal_mask, padding_mask, target_mask


def test_padding_mask_closes_padding_keys_and_nothing_else() -> None:
    mask = padding_mask(torch.tensor([[SOS, UNK, EOS], [7, PAD, PAD]]))
    assert (mask.dtype, mask.shape) == (torch.bool, (2, 1, 1, 3))
    assert mask[:, 0, 0].tolist() == [[True, True, True], [True, False, False]]


def test_target_mask_is_padding_and_future() -> None:
    for length in (1, 2, 7, 40):
        mask = causal_mask(length)
        assert (mask.dtype, mask.shape) == (torch.bool, (1, 1, length, length))
        assert mask[0, 0].tolist() == [[key <= query for key in range(length)] for query in range(length)]
    tokens = torch.tensor([[SOS, 6, PAD], [SOS, 6, 7]])
    assert target_mask(tokens)[:, 0].tolist() == [
        [[True, False, False], [True, True, False], [True, True, False]],
        [[True, False, False], [True, True, False], [True, True, True]],
    ]
    assert torch.equal(target_mask(tokens, causal=False), padding_mask(tokens))
