"""Transformers that differ from the paper in one part, for experiments that show what the part is good for.

The model itself (attention.py, layers.py, transformer.py) does not know them. `model.architectures.make_model` builds
one if the configuration asks for `layer_norm=scalar`, `residual=false` or one of :mod:`model.attention_variants`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.attention_variants import AttentionVariant
from model.config import ModelConfig
from model.layers import DecoderLayer, EncoderLayer, Layer
from model.tap import Part, name_points, through
from model.transformer import Transformer


class ScalarLayerNorm(Part):
    """Layer norm with one scale and one shift for the whole vector, as some tutorials write it."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise over the last axis; the shape stays."""
        return through(self.name, F.layer_norm(x, x.shape[-1:], eps=self.eps) * self.weight + self.bias)


class WithoutResidual(Layer):
    """A layer in which each sublayer's output replaces its input."""

    def residual(self, n: int, x: Tensor, out: Tensor) -> Tensor:
        """Dropout(out): [batch, seq, d_model]."""
        return self.dropout(out)


class EncoderLayerWithoutResidual(WithoutResidual, EncoderLayer):
    """An encoder layer without residual connections."""


class DecoderLayerWithoutResidual(WithoutResidual, DecoderLayer):
    """A decoder layer without residual connections."""


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
                    setattr(parent, name, AttentionVariant(config, child.n_heads, same_sequence=name == "self_attn"))
        name_points(self)
        self.reset_parameters()
