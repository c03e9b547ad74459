"""Scaled dot-product attention and multi-head attention (Vaswani et al. 2017, §3.2)."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from model.tap import Linear, Part

Mask = Tensor | None
"""Bool, broadcastable to [batch, head, query, key], True = may attend; None if every query may attend to every key."""

KeyValue = tuple[Tensor, Tensor]
"""Projected keys and values, each [batch, head, key, d_head]."""


Point = Callable[[str, Tensor], Tensor]
"""Called with the name and the tensor of an intermediate; returns the tensor to continue with, usually the same."""


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Mask = None,
    dropout_p: float = 0.0,
    point: Point = lambda name, tensor: tensor,
) -> tuple[Tensor, Tensor]:
    """softmax(Q·Kᵀ / √d_head)·V (§3.2.1, eq. 1; masks: §3.2.3).

    Shapes:
        query: [batch, head, query, d_head]; key, value: [batch, head, key, d_head].
        returns: output [batch, head, query, d_head] and weights [batch, head, query, key].
    The weights are what multiplies `value`, before dropout and in float32 or wider: rows sum to 1
    over the visible keys, masked cells are exactly 0, and a row that sees no key is all zeros.
    """
    # [batch, head, query, d_head] · [batch, head, d_head, key] -> [batch, head, query, key]
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores if scores.dtype == torch.float64 else scores.float()
    masked = scores = point("scores", scores)
    if mask is not None:
        mask = point("mask", mask)
        # The paper uses -inf, which would make a row that sees no key NaN, and its gradient as well.
        masked = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    masked = point("masked", masked)
    weights = masked.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # changes only rows that see no key
    weights = point("weights", weights)
    dropped = F.dropout(weights, dropout_p) if dropout_p else weights
    # [batch, head, query, key] · [batch, head, key, d_head] -> [batch, head, query, d_head]
    output = dropped.type_as(value) @ value
    return point("output", output), weights


class MultiHeadAttention(Part):
    """`n_heads` attention functions in parallel, each on `d_head` columns of the projections (§3.2.2)."""

    attention = staticmethod(scaled_dot_product_attention)  # replaced in model.fast.training

    def __init__(self, d_model: int, n_heads: int, *, dropout_p: float = 0.0) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.dropout_p = dropout_p
        self.q_proj = Linear(d_model, d_model)
        self.k_proj = Linear(d_model, d_model)
        self.v_proj = Linear(d_model, d_model)
        self.out_proj = Linear(d_model, d_model)

    def forward(self, queries: Tensor, memory: Tensor, *, mask: Mask = None) -> Tensor:
        """Attend from `queries` to `memory` (the same tensor in self-attention).

        Shapes:
            queries: [batch, query, d_model]; memory: [batch, key, d_model].
            returns: [batch, query, d_model].
        """
        return self.read(queries, self.keys_values(memory), mask=mask)

    def keys_values(self, memory: Tensor, past: KeyValue | None = None) -> KeyValue:
        """Project `memory` to keys and values, and append them to those of `past`, if given.

        Shapes:
            memory: [batch, new, d_model]; past: a pair [batch, head, past, d_head].
            returns: a pair [batch, head, past + new, d_head]; `past` stays valid.
        """
        key, value = self.split_heads(self.k_proj(memory)), self.split_heads(self.v_proj(memory))
        if past is None:
            return key, value
        return torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)

    def read(self, queries: Tensor, key_value: KeyValue, *, mask: Mask = None) -> Tensor:
        """Attend from `queries` to keys and values that are already projected.

        Shapes:
            queries: [batch, query, d_model]; key_value: a pair [batch, head, key, d_head].
            returns: [batch, query, d_model].
        """
        query = self.point("query", self.split_heads(self.q_proj(queries)))
        key = self.point("key", key_value[0])
        value = self.point("value", key_value[1])
        p = self.dropout_p if self.training else 0.0
        output, _ = self.attention(query, key, value, mask=mask, dropout_p=p, point=self.point)
        # [batch, head, query, d_head] -> [batch, query, head, d_head] -> [batch, query, d_model]
        joined = self.point("joined", output.transpose(1, 2).flatten(2))
        return self.out_proj(joined)

    def split_heads(self, x: Tensor) -> Tensor:
        """[batch, seq, d_model] -> [batch, head, seq, d_head]."""
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)
