"""The mean map of a head over sentences of different lengths, by how far along the sentence queries and keys are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 12


@lru_cache(maxsize=512)
def shares_of_bins(n: int, bins: int = BINS) -> Floats:
    """[bin, token]: the share of each of n equally wide tokens that lies in each bin; columns sum to 1."""
    edges, ends = np.arange(bins + 1) / bins, np.arange(n + 1) / n
    overlap = np.minimum(edges[1:, None], ends[None, 1:]) - np.maximum(edges[:-1, None], ends[None, :-1])
    shares: Floats = np.maximum(overlap, 0.0) * n
    shares.setflags(write=False)
    return shares


def relative_map(weights: NDArray[np.floating], bins: int = BINS) -> Floats:
    """One sentence's maps on a grid by relative position: [..., query, key] -> [..., bin, bin].

    A row of the result is the mean of the queries in it, and how their weight is distributed over the sentence: rows
    still sum to 1.
    """
    rows = shares_of_bins(weights.shape[-2], bins)
    keys = shares_of_bins(weights.shape[-1], bins)
    averaged = (rows / rows.sum(axis=1, keepdims=True)) @ weights
    grid: Floats = averaged @ keys.T
    return grid
