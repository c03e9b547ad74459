"""The key that each query of a head attends to most, and how similar the two vectors are."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cosine_similarity


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
