"""Relative position biases as in T5: a learned number per head and range of distances, added to the scores."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.config import ModelConfig


def distance_buckets(distances: Tensor, *, n_buckets: int, farthest: int, both_directions: bool) -> Tensor:
    """The bucket of each distance: small distances have one each, larger ones share them on a logarithmic scale.

    Source: T5 (Raffel et al. 2020, "Exploring the Limits of Transfer Learning", §2.1) and its code.

    Shapes:
        distances: whole numbers, position of the key minus that of the query; returns their buckets, in the same shape.
    With `both_directions`, the upper half of the buckets is for keys after the query; otherwise these count as distance
    0. All distances from `farthest` on share the last bucket.
    """
    after = torch.zeros_like(distances)
    if both_directions:
        n_buckets //= 2
        after = (distances > 0).long() * n_buckets
        steps = distances.abs()
    else:
        steps = (-distances).clamp(min=0)
    exact = n_buckets // 2
    # In float32 and in this order, as in the models' training: a boundary may depend on the last bit.
    scaled = torch.log(steps.clamp(min=1).float() / exact) / math.log(farthest / exact) * (n_buckets - exact)
    far = (exact + scaled.long()).clamp(max=n_buckets - 1)
    return after + torch.where(steps < exact, steps, far)


class RelativeBias(nn.Module):
    """The bias of all self-attention blocks of a stack: they share one table [bucket, head]."""

    def __init__(self, config: ModelConfig, n_heads: int, *, both_directions: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.relative_buckets, n_heads)
        self.farthest = config.relative_distance
        self.both_directions = both_directions

    def forward(self, n_queries: int, n_keys: int) -> Tensor:
        """The bias on the scores, [head, query, key]; the queries are the last of the keys' positions."""
        keys = torch.arange(n_keys, device=self.embedding.weight.device)
        distances = keys - keys[n_keys - n_queries :, None]  # [query, key]
        buckets = distance_buckets(
            distances,
            n_buckets=self.embedding.num_embeddings,
            farthest=self.farthest,
            both_directions=self.both_directions,
        )
        bias: Tensor = self.embedding(buckets)  # [query, key, head]
        return bias.permute(2, 0, 1)
