"""The temperature of a softmax: what it makes of the probabilities that a model gives, without the whole vocabulary.

At temperature T the probability of token v is p_v^(1/T) / Σ_u p_u^(1/T), with p at temperature 1 (Ackley, Hinton and
Sejnowski 1985, eq. 3). The sum runs over the whole vocabulary; with its logarithm at hand, the probability of any
single token follows from the token's own p, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)


def log_sums(log_probs: NDArray[np.float32]) -> NDArray[np.float32]:
    """The logarithm of Σ_v p_v^(1/T) for each of `TEMPERATURES`; 0 at temperature 1.

    Shapes:
        log_probs: [tgt, vocab] in nats, -inf for tokens that are never predicted; returns [tgt, temperature].
    """
    largest = log_probs.max(axis=-1, keepdims=True)
    below = log_probs - largest  # at most 0, so that no exponential overflows
    sums = np.zeros((len(log_probs), len(TEMPERATURES)), dtype=np.float32)
    for i, temperature in enumerate(TEMPERATURES):
        if temperature != 1:  # there, the sum is 1
            exponents = below / np.float32(temperature)
            sums[:, i] = np.log(np.exp(exponents).sum(axis=-1)) + largest[:, 0] / temperature
    return sums
