"""How spread out attention is: the entropy of a row, and the number of keys it amounts to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def entropy(weights: NDArray[np.floating]) -> Scores:
    """Entropy in nats of the last axis, in double precision; 0 · ln 0 counts as 0.

    Shapes: weights [..., key] → [...].
    """
    exact = weights.astype(np.float64)
    # The smallest number in place of 0 keeps the logarithm finite, and is quicker than leaving the zeros out.
    logs = np.log(np.maximum(exact, np.finfo(np.float64).tiny))
    total: Scores = -(exact * logs).sum(axis=-1)
    return total


def effective_keys(weights: NDArray[np.floating]) -> Scores:
    """exp(entropy): the number of keys that uniform attention of the same entropy looks at, from 1.

    Shapes: weights [..., key] → [...].
    """
    keys: Scores = np.exp(entropy(weights))
    return keys
