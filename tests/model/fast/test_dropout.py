"""Dropout from cheap random numbers: uniform, independent, and reproducible for the same stream."""

from __future__ import annotations

import pytest
import torch

from model.fast.dropout import dropout, keep_factors
from model.training.randomness import start_stream


@pytest.mark.parametrize("shape", [(3,), (64, 7), (5, 6, 11)])
def test_quick_dropout_is_dropout(shape: tuple[int, ...]) -> None:
    start_stream(1, "dropout")
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    y = dropout(x, 0.25)
    assert set(y.unique().tolist()) <= {0.0, 1 / 0.75}
    y.sum().backward()
    assert torch.equal(x.grad, y), "what was dropped gets no gradient, the rest gets the factor"
    start_stream(1, "dropout")
    assert torch.equal(dropout(x, 0.25), y), "the same stream drops the same"
    assert dropout(x, 0.0) is x
    assert dropout(x, 0.25, training=False) is x
    assert dropout(x.bfloat16(), 0.5).dtype == torch.bfloat16
    for p in (1 - 2**-17, 1 - 2**-18, 1 - 2**-30, 1.0):  # rounded to a multiple of 2⁻¹⁶ they are 1: nothing is left
        y = dropout(x, p)
        assert not y.any()
        assert not torch.autograd.grad(y.sum(), x)[0].any()
    assert keep_factors(torch.Size([1000]), 1 - 2**-15).numel() == 1000


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_quick_dropout_drops_its_share_evenly(p: float) -> None:
    """Over 10⁶ draws, within five standard deviations, in each of the four places of a random number."""
    dropped = keep_factors(torch.Size([250_000, 4]), p) == 0
    deviation = (p * (1 - p) / 250_000) ** 0.5
    assert ((dropped.double().mean(dim=0) - p).abs() < 5 * deviation + 2**-16).all()
    pairs = (dropped[:, 0] & dropped[:, 1]).double().mean()
    assert abs(pairs - p * p) < 5 * (p * p / 250_000) ** 0.5 + 2**-15
