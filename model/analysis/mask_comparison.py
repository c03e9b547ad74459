"""The effect of removing a mask: attention to the future and to padding, and how two decodings differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from model.analysis.mask_effects import Spoken

Weights = NDArray[np.float32]
Flags = NDArray[np.bool_]


def attention_to_future(weights: Weights, rows: Flags | None = None) -> float:
    """The share of attention on later positions, averaged over rows; weights [query, key].

    `rows` [query] selects the rows to average.
    """
    future = np.triu(weights, k=1)
    return float((future if rows is None else future[rows]).sum(axis=1).mean())


def attention_to_keys(weights: Weights, rows: Flags, keys: Flags) -> float:
    """The share of attention from the chosen rows to the chosen keys, averaged over rows.

    Shapes:
        weights: [.., query, key]; rows: [query]; keys: [key].
    """
    return float(weights[..., rows, :][..., keys].sum(axis=-1).mean())


def most_ahead(weights: Weights) -> tuple[int, int, float]:
    """The head with the largest mean weight on the next position: layer and head (from 0), and that weight.

    Shapes:
        weights: [layer, head, query, key] of decoder self-attention.
    """
    several = weights.shape[-1] > 1
    ahead = np.diagonal(weights, offset=1, axis1=2, axis2=3).mean(axis=-1) if several else weights[..., 0]
    layer, head = np.unravel_index(int(ahead.argmax()), ahead.shape)[:2]
    return int(layer), int(head), float(ahead[layer, head].max())


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first index at which two paths have different tokens; None where one is a prefix of the other."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)


def largest_change(one: Spoken, other: Spoken) -> float:
    """The largest difference between the probabilities of two decodings, up to the first token that differs."""
    parts = first_difference(one.path, other.path)
    last = None if parts is None else parts + 1
    pairs = zip(one.probabilities[:last], other.probabilities[:last], strict=False)
    return max((abs(p - q) for p, q in pairs), default=0.0)
