"""Probabilities at other temperatures, from those of a few tokens and one sum over the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from model.decoding.temperature import TEMPERATURES, log_sums


def at_temperature(probabilities: NDArray[np.float32], log_sum: float, temperature: float) -> NDArray[np.float64]:
    """What the browser makes of probabilities at temperature 1 and the logarithm of the sum at another."""
    with np.errstate(divide="ignore"):
        return np.exp(np.log(probabilities.astype(np.float64)) / temperature - log_sum)


@pytest.mark.parametrize("sharpness", [0.1, 3.0, 40.0])
def test_they_are_the_softmax_of_the_logits_over_the_temperature(sharpness: float) -> None:
    logits = sharpness * torch.randn(5, 900, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    logits[:, [0, 1]] = -torch.inf  # never predicted
    log_probs = logits.log_softmax(-1)
    sums = log_sums(log_probs).numpy()
    top = log_probs.topk(10, dim=-1)
    for i, temperature in enumerate(TEMPERATURES):
        exact = (logits / temperature).softmax(-1).gather(1, top.indices).numpy()
        for row in range(5):
            shown = at_temperature(top.values[row].exp().float().numpy(), sums[row, i], temperature)
            np.testing.assert_allclose(shown, exact[row], rtol=3e-4, atol=1e-7)
            assert shown.sum() <= 1 + 1e-5
