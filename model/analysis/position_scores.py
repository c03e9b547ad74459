"""Attention scores as a function of position alone: the same word stands at every position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.positions import alibi_bias, rotary

SEED = 0  # of the word and the projections, which are random, not trained
HEADS = 8  # of ALiBi, as in the paper's example


@dataclass(frozen=True)
class ByDistance:
    """The scores at each distance key - query: the mean, lowest and highest over all pairs that far apart.

    Shapes: all [2·length - 1], for the distances 1 - length … length - 1.
    """

    distances: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The largest range of scores at one distance, as a share of the range of all scores.

        0: a score depends on the distance alone. 1: it does not depend on the distance.
        """
        total = max(self.high) - min(self.low)
        widest = max(high - low for high, low in zip(self.high, self.low, strict=True))
        return widest / total if total > 1e-9 else 0.0

    @property
    def asymmetry(self) -> float:
        """The largest difference between mean scores before and after the query, as a share of the range of scores."""
        total = max(self.high) - min(self.low)
        pairs = zip(self.mean, reversed(self.mean), strict=True)
        return max(abs(after - before) for after, before in pairs) / total if total > 1e-9 else 0.0


def scores_with_rows(rows: Tensor) -> Tensor:
    """Scores if a row per position is added to the word before projection.

    Shapes: rows [pos, d_model] float64; returns [query, key] float64.
    """
    word, (query, key) = _word(rows.size(1)), _projections(rows.size(1))
    x = word + rows
    return (x @ query) @ (x @ key).T / math.sqrt(rows.size(1))


def scores_with_rotation(length: int, d_head: int, base: float = 10000.0) -> Tensor:
    """Scores if query and key are rotated by their positions (RoPE): [query, key] float64."""
    word, (query, key) = _word(d_head), _projections(d_head)
    queries, keys = ((word @ matrix).expand(length, -1) for matrix in (query, key))
    return rotary(queries, base=base) @ rotary(keys, base=base).T / math.sqrt(d_head)


def scores_with_distance(length: int, d_head: int, head: int) -> Tensor:
    """Scores of one head (from 1) of `HEADS` with a distance bias (ALiBi): [query, key] float64."""
    word, (query, key) = _word(d_head), _projections(d_head)
    product = (word @ query) @ (word @ key) / math.sqrt(d_head)
    return product + alibi_bias(HEADS, length, length)[head - 1]


def by_distance(scores: Tensor) -> ByDistance:
    """The scores of each distance, from a square matrix [query, key]."""
    length = scores.size(0)
    distances = range(1 - length, length)
    diagonals: Sequence[Tensor] = [scores.diagonal(distance) for distance in distances]
    return ByDistance(
        tuple(distances),
        tuple(float(diagonal.mean()) for diagonal in diagonals),
        tuple(float(diagonal.min()) for diagonal in diagonals),
        tuple(float(diagonal.max()) for diagonal in diagonals),
    )


def _word(width: int) -> Tensor:
    """A random word vector, about as long as a row of the sinusoidal table."""
    generator = torch.Generator().manual_seed(SEED)
    return torch.randn(width, generator=generator, dtype=torch.float64) / math.sqrt(2)


def _projections(width: int) -> tuple[Tensor, Tensor]:
    """Random projections for queries and keys that about preserve the length of vectors, [width, width] each."""
    generator = torch.Generator().manual_seed(SEED + 1)
    query, key = torch.randn(2, width, width, generator=generator, dtype=torch.float64) / math.sqrt(width)
    return query, key
