"""Transformers that differ from the paper in one part, for experiments that show what the part is good for.

The model itself (attention.py, layers.py, transformer.py) knows nothing of these. `model.architectures.make_model`
chooses them where the configuration asks for one: `layer_norm=scalar`, `residual=false`, and what
:mod:`model.attention_variants` has.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import KeyValue, MultiHeadAttention
from model.attention_variants import AttentionVariant
from model.config import ModelConfig
from model.dropout import dropout
from model.layers import DecoderLayer, EncoderLayer
from model.tap import Tap, through, within
from model.transformer import Transformer


class ScalarLayerNorm(nn.Module):
    """Layer norm with one scale and one shift for the whole vector, as some tutorials write it."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise over the last axis; the shape stays."""
        return F.layer_norm(x, x.shape[-1:], eps=self.eps) * self.weight + self.bias


class EncoderLayerWithoutResidual(EncoderLayer):
    """An encoder layer in which each sublayer's output replaces its input."""

    def forward(self, x: Tensor, *, mask: Tensor | None = None, tap: Tap | None = None) -> Tensor:
        """Shapes as in :class:`EncoderLayer`."""
        self_tap, feed_tap = within(tap, "self_attn"), within(tap, "feed_forward")
        if self.norm_first:
            x = through(tap, "norm1", self.norm1(x))
            x = dropout(self.self_attn(x, x, mask=mask, tap=self_tap), self.dropout, self.training)
            x = through(tap, "norm2", self.norm2(x))
            return dropout(self.feed_forward(x, tap=feed_tap), self.dropout, self.training)
        x = dropout(self.self_attn(x, x, mask=mask, tap=self_tap), self.dropout, self.training)
        x = through(tap, "norm1", self.norm1(x))
        x = dropout(self.feed_forward(x, tap=feed_tap), self.dropout, self.training)
        return through(tap, "norm2", self.norm2(x))


class DecoderLayerWithoutResidual(DecoderLayer):
    """A decoder layer in which each sublayer's output replaces its input."""

    def forward(
        self,
        x: Tensor,
        cross_kv: KeyValue,
        past_kv: KeyValue | None = None,
        *,
        self_mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        tap: Tap | None = None,
    ) -> tuple[Tensor, KeyValue]:
        """Shapes as in :class:`DecoderLayer`."""
        self_tap, cross_tap, feed_tap = (within(tap, part) for part in ("self_attn", "cross_attn", "feed_forward"))
        if self.norm_first:
            x = through(tap, "norm1", self.norm1(x))
            self_kv = self.self_attn.keys_values(x, past_kv, tap=self_tap)
            x = self.self_attn.read(x, self_kv, mask=self_mask, tap=self_tap)
            x = through(tap, "norm2", self.norm2(dropout(x, self.dropout, self.training)))
            x = self.cross_attn.read(x, cross_kv, mask=cross_mask, tap=cross_tap)
            x = through(tap, "norm3", self.norm3(dropout(x, self.dropout, self.training)))
            return dropout(self.feed_forward(x, tap=feed_tap), self.dropout, self.training), self_kv
        self_kv = self.self_attn.keys_values(x, past_kv, tap=self_tap)
        x = self.self_attn.read(x, self_kv, mask=self_mask, tap=self_tap)
        x = through(tap, "norm1", self.norm1(dropout(x, self.dropout, self.training)))
        x = self.cross_attn.read(x, cross_kv, mask=cross_mask, tap=cross_tap)
        x = through(tap, "norm2", self.norm2(dropout(x, self.dropout, self.training)))
        x = dropout(self.feed_forward(x, tap=feed_tap), self.dropout, self.training)
        return through(tap, "norm3", self.norm3(x)), self_kv


class TransformerVariant(Transformer):
    """A Transformer with the parts that its configuration asks for in place of the paper's."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if not config.residual:
            self.encoder.layers = nn.ModuleList(EncoderLayerWithoutResidual(config) for _ in self.encoder.layers)
            self.decoder.layers = nn.ModuleList(DecoderLayerWithoutResidual(config) for _ in self.decoder.layers)
        for parent in list(self.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.LayerNorm) and config.layer_norm == "scalar":
                    setattr(parent, name, ScalarLayerNorm(child.eps))
                elif isinstance(child, MultiHeadAttention) and config.has_attention_variant:
                    setattr(parent, name, AttentionVariant(config, child.n_heads, within_one=name == "self_attn"))
        self.reset_parameters()
