"""Queries, keys and values of one head: in a plane, and the key that each query attends to most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from model.analysis.operations import Projection, Walk, flatten


@dataclass(frozen=True)
class Match:
    """A query's strongest key (from 0), its weight, and the two vectors' dot product and cosine similarity."""

    key: int
    weight: float
    product: float
    cosine: float


def strongest_matches(query: Tensor, key: Tensor, weights: Tensor) -> list[Match]:
    """The strongest key of every query.

    Shapes:
        query: [query, d_head]; key: [key, d_head]; weights: [query, key].
    """
    return [
        Match(
            key=int(k),
            weight=float(weights[q, k]),
            product=float(query[q] @ key[k]),
            cosine=float(cosine_similarity(query[q], key[k], dim=0)),
        )
        for q, k in enumerate(weights.argmax(dim=-1))
    ]


def matches_of(run: Walk, scope: str, head: int) -> list[Match]:
    """The strongest key of every query of one head (from 0) of an attention block."""
    query, key, weights = (run[f"{scope}.{name}"].value[0, head] for name in ("query", "key", "weights"))
    return strongest_matches(query, key, weights)


def plane_of(run: Walk, scope: str, head: int, names: Sequence[str]) -> Projection:
    """The vectors of one head with these names, one below the other, in the plane of their principal components."""
    return flatten(torch.cat([run[f"{scope}.{name}"].value[0, head] for name in names]))
