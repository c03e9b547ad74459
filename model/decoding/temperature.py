"""Probabilities at other temperatures of the softmax, without the logits of the whole vocabulary.

At temperature T the probability of token v is p_v^(1/T) / Σ_u p_u^(1/T), with p at temperature 1 (Ackley, Hinton and
Sejnowski 1985, eq. 3). The sum runs over the whole vocabulary; given its logarithm, the probability of any single
token follows exactly from the token's own p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
IN_CACHE = 131_072  # numbers computed at once: four times as fast as 50 rows of 50,000


def log_sums(log_probs: Tensor) -> Tensor:
    """The logarithm of Σ_v p_v^(1/T) for each of `TEMPERATURES`; 0 at temperature 1.

    Shapes:
        log_probs: [tgt, vocab] in nats, -inf for tokens that are never predicted.
        returns: [tgt, temperature] float32, on the CPU.
    """
    import torch  # here, since a notebook that only shows attention needs nothing but TEMPERATURES

    rows = max(1, IN_CACHE // log_probs.size(-1))
    return torch.cat([_log_sums(part) for part in log_probs.float().cpu().split(rows)])


def _log_sums(log_probs: Tensor) -> Tensor:
    """As `log_sums`, for rows few enough that their powers stay in the processor's cache."""
    import torch

    largest = log_probs.amax(dim=-1, keepdim=True)
    below = log_probs - largest  # at most 0, so that no power overflows
    # A product costs a tenth of an exponential, so most powers are products of p^(1/3).
    p_1_3 = (below / 3).exp()
    p_2_3 = p_1_3 * p_1_3
    p = p_2_3 * p_1_3
    p_10_3 = (p_2_3 * p_2_3).square() * p_2_3
    powers = {
        0.1: p_10_3 * p_10_3 * p_10_3,
        0.3: p_10_3,
        0.5: p * p,
        0.7: (below / 0.7).exp(),
        1.5: p_2_3,
        2.0: p.sqrt(),
        3.0: p_1_3,
    }
    sums = [
        powers[temperature].sum(dim=-1).log() + largest[:, 0] / temperature
        if temperature in powers
        else torch.zeros(len(log_probs))  # temperature 1: the sum is 1
        for temperature in TEMPERATURES
    ]
    return torch.stack(sums, dim=1)
