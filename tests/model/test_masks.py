from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from model.config import EOS, PAD, SOS, UNK
from model.masks import causal_mask, padding_mask, target_mask


def test_padding_mask_closes_padding_keys_and_nothing_else() -> None:
    mask = padding_mask(torch.tensor([[SOS, UNK, EOS], [7, PAD, PAD]]))
    assert mask.dtype == torch.bool
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, True], [True, False, False]]


def test_causal_mask_of_three() -> None:
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    assert mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@given(length=st.integers(1, 40), data=st.data())
def test_causal_mask_opens_exactly_the_past_and_present(length: int, data: st.DataObject) -> None:
    query, key = (data.draw(st.integers(0, length - 1)) for _ in range(2))
    assert causal_mask(length).shape == (1, 1, length, length)
    assert bool(causal_mask(length)[0, 0, query, key]) == (key <= query)


def test_masks_combine_by_broadcasting() -> None:
    both = padding_mask(torch.tensor([[5, 6, PAD], [5, 6, 7]])) & causal_mask(3)
    assert both.shape == (2, 1, 3, 3)
    assert both[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert both[1, 0, 2].tolist() == [True, True, True]


def test_target_mask_is_padding_and_future() -> None:
    tokens = torch.tensor([[SOS, 6, PAD], [SOS, 6, 7]])
    assert torch.equal(target_mask(tokens), padding_mask(tokens) & causal_mask(3))
    assert torch.equal(target_mask(tokens, causal=False), padding_mask(tokens))
