"""Variants of attention: unscaled scores, rotary positions (RoPE), distance biases (ALiBi) and gated outputs.

`model.variants` builds them into a model if its configuration asks for them: `scale_scores=false`, `positions=rope`,
`positions=alibi`, `attention_gate=true`, in any combination.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.attention import KeyValue, Mask, MultiHeadAttention
from model.config import ModelConfig
from model.positions import alibi_bias, rotary


class AttentionVariant(MultiHeadAttention):
    """Multi-head attention with the parts that the configuration asks for.

    Rotary positions and ALiBi apply only if `same_sequence`, that is to self-attention: a source and a target position
    have no distance.
    """

    def __init__(self, config: ModelConfig, n_heads: int, *, same_sequence: bool) -> None:
        super().__init__(config.d_model, n_heads, dropout_p=config.attention_dropout)
        self.scale_scores = config.scale_scores
        self.rotates = same_sequence and config.positions == "rope"
        self.biases = same_sequence and config.positions == "alibi"
        self.gate_proj = nn.Linear(config.d_model, config.d_model) if config.attention_gate else None

    def keys_values(self, memory: Tensor, past: KeyValue | None = None) -> KeyValue:
        """Shapes as in :class:`MultiHeadAttention`; each key is rotated once, when it is projected."""
        key, value = super().keys_values(memory)
        if self.rotates:
            key = rotary(key, 0 if past is None else past[0].size(2))
        if past is None:
            return key, value
        return torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)

    def read(self, queries: Tensor, key_value: KeyValue, *, mask: Mask = None) -> Tensor:
        """Shapes as in :class:`MultiHeadAttention`; in self-attention the queries are the last positions."""
        query = self.split_heads(self.q_proj(queries))
        n_queries, n_keys = query.size(2), key_value[0].size(2)
        if self.rotates:
            query = rotary(query, n_keys - n_queries)
        query = self.point("query", query)
        key, value = self.point("key", key_value[0]), self.point("value", key_value[1])
        bias = None
        if self.biases:
            bias = alibi_bias(self.n_heads, n_queries, n_keys).to(query.device, query.dtype)
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

    def attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, mask: Mask) -> Tensor:
        """The heads' outputs, [batch, head, query, d_head], with `bias` [batch, head, query, key] on the scores."""

        def point(name: str, tensor: Tensor) -> Tensor:
            return self.point(name, tensor + bias if name == "scores" and bias is not None else tensor)

        p = self.dropout_p if self.training else 0.0
        return self.attention(query, key, value, mask=mask, dropout_p=p, point=point)[0]
