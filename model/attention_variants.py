"""Variants of attention: unscaled scores, heads of any width, grouped queries, rotary positions (RoPE), biases, gates.

`model.variants` builds them into a model if its configuration asks for them: `scale_scores=false`, `head_width=64`,
`key_value_heads=2`, `positions=rope`, `positions=alibi`, `positions=relative`, `attention_gate=true`, in any
combination.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from model.attention import KeyValue, Mask, MultiHeadAttention
from model.config import ModelConfig
from model.positions import rotary
from model.tap import Linear

PositionBias = Callable[[int, int], Tensor]
"""The bias on the scores, [head, query, key], for a number of queries and of keys; the queries are the last keys."""


class AttentionVariant(MultiHeadAttention):
    """Multi-head attention with the parts that the configuration asks for.

    Rotary positions and `position_bias` apply only if `same_sequence`, that is to self-attention: a source and a target
    position have no distance. So do grouped queries: a group of heads shares its keys and values (Ainslie et al. 2023,
    "GQA", §2.2).
    """

    def __init__(
        self, config: ModelConfig, n_heads: int, *, same_sequence: bool, position_bias: PositionBias | None = None
    ) -> None:
        super().__init__(config.d_model, n_heads, dropout_p=config.attention_dropout)
        n_keys = config.key_value_heads if same_sequence and config.key_value_heads else n_heads
        if config.head_width or n_keys != n_heads:
            self.d_head = config.head_width or self.d_head
            inner, own = n_heads * self.d_head, n_keys * self.d_head
            self.q_proj, self.k_proj, self.v_proj = (Linear(config.d_model, width) for width in (inner, own, own))
            self.out_proj = Linear(inner, config.d_model)
        self.scale_scores = config.scale_scores
        self.rotates = same_sequence and config.positions == "rope"
        self.rotary = partial(rotary, base=config.rope_base, halves=config.rope_halves)
        self.position_bias = position_bias if same_sequence else None
        self.gate_proj = nn.Linear(config.d_model, n_heads * self.d_head) if config.attention_gate else None

    def keys_values(self, memory: Tensor, past: KeyValue | None = None) -> KeyValue:
        """Shapes as in :class:`MultiHeadAttention`; each key is rotated once, when it is projected."""
        key, value = super().keys_values(memory)
        if self.rotates:
            key = self.rotary(key, 0 if past is None else past[0].size(2))
        if past is None:
            return key, value
        return torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)

    def read(self, queries: Tensor, key_value: KeyValue, *, mask: Mask = None) -> Tensor:
        """Shapes as in :class:`MultiHeadAttention`; in self-attention the queries are the last positions."""
        query = self.split_heads(self.q_proj(queries))
        n_queries, n_keys = query.size(2), key_value[0].size(2)
        if self.rotates:
            query = self.rotary(query, n_keys - n_queries)
        query = self.point("query", query)
        key, value = self.point("key", key_value[0]), self.point("value", key_value[1])
        bias = None
        if self.position_bias is not None:
            bias = self.position_bias(n_queries, n_keys).to(query.device, query.dtype)
            bias = self.point("bias", bias.expand(query.size(0), -1, -1, -1))
        if not self.scale_scores:  # undo the division of the scores by √d_head
            query = query * math.sqrt(self.d_head)
        output = self.attend(query, key, value, bias, mask)
        # [batch, head, query, d_head] -> [batch, query, head, d_head] -> [batch, query, d_model]
        joined = self.point("joined", output.transpose(1, 2).flatten(2))
        if self.gate_proj is not None:  # (Qiu et al. 2025, "Gated Attention for Large Language Models", §2.2, G1)
            gate = self.point("gate", torch.sigmoid(self.gate_proj(queries)))
            joined = self.point("gated", joined * gate)
        return self.out_proj(joined)

    def split_heads(self, x: Tensor) -> Tensor:
        """[batch, seq, width] -> [batch, head, seq, d_head]; keys and values of a group appear in each of its heads."""
        heads = x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)
        return heads if heads.size(1) == self.n_heads else heads.repeat_interleave(self.n_heads // heads.size(1), dim=1)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, mask: Mask) -> Tensor:
        """The heads' outputs, [batch, head, query, d_head], with `bias` [batch, head, query, key] on the scores."""

        def point(name: str, tensor: Tensor) -> Tensor:
            return self.point(name, tensor + bias if name == "scores" and bias is not None else tensor)

        p = self.dropout_p if self.training else 0.0
        return self.attention(query, key, value, mask=mask, dropout_p=p, point=point)[0]
