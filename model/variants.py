"""Transformers that differ from the paper in some parts, for experiments and for models from elsewhere.

The model itself (attention.py, layers.py, transformer.py) does not know them. `model.architectures.make_model` builds
one if the configuration asks for another norm, gated feed-forward layers, no biases, no residual connections, or one of
:mod:`model.attention_variants`. Most are parts of models from elsewhere (:mod:`model.importing`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.attention_variants import AttentionVariant, PositionBias
from model.config import AttentionKind, ModelConfig
from model.layers import DecoderLayer, EncoderLayer, FeedForward, Layer
from model.positions import alibi_bias
from model.relative_positions import RelativeBias
from model.tap import LayerNorm, Linear, Part, name_points, through
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


class RMSNorm(Part):
    """Root mean square norm (Zhang and Sennrich 2019): a scale per dimension, without mean and shift."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Divide by the root of the mean square over the last axis; the shape stays."""
        return through(self.name, x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight)


NORMS: dict[str, Callable[[int, float], nn.Module]] = {
    "standard": LayerNorm,
    "scalar": lambda d_model, eps: ScalarLayerNorm(eps),
    "rms": RMSNorm,
}


class GatedFeedForward(FeedForward):
    """W₂·(act(W₁·x) ⊙ W_g·x) at each position alone (Shazeer 2020, "GLU Variants Improve Transformer")."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.gate_proj = Linear(config.d_model, config.d_ff)

    def forward(self, x: Tensor) -> Tensor:
        """[batch, seq, d_model] -> [batch, seq, d_model]."""
        hidden = self.dropout(self.activation(self.linear1(x)) * self.gate_proj(x))
        return self.linear2(self.point("activation", hidden))


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
        self.replace_parts()

    def replace_parts(self) -> None:
        """Put the configured parts in place of the paper's, then draw new weights."""
        config = self.config
        stacks: tuple[AttentionKind, ...] = ("encoder", "decoder") if config.has_encoder else ("decoder",)
        biases = {stack: self._position_bias(stack) for stack in stacks}
        for path, parent in list(self.named_modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.LayerNorm):
                    setattr(parent, name, NORMS[config.layer_norm](config.d_model, config.norm_epsilon))
                elif isinstance(child, FeedForward) and config.feed_forward == "gated":
                    setattr(parent, name, GatedFeedForward(config))
                elif isinstance(child, MultiHeadAttention) and config.has_attention_variant:
                    bias, itself = biases[path.partition(".")[0]], name == "self_attn"
                    block = AttentionVariant(config, child.n_heads, same_sequence=itself, position_bias=bias)
                    setattr(parent, name, block)
        for path, module in self.named_modules() if not config.bias else ():
            kept = config.qkv_bias and path.endswith(("q_proj", "k_proj", "v_proj"))
            if isinstance(module, nn.Linear) and module is not self.output and not kept:
                module.register_parameter("bias", None)
        name_points(self)
        self.reset_parameters()

    def _position_bias(self, stack: AttentionKind) -> PositionBias | None:
        """The bias on the scores that all self-attention blocks of the "encoder" or "decoder" share."""
        n_heads = self.config.n_heads(stack)
        if self.config.positions == "alibi":
            return partial(alibi_bias, n_heads)
        if self.config.positions != "relative":
            return None
        positions = self.positions_src if stack == "encoder" else self.positions_tgt
        positions.relative = RelativeBias(
            self.config, n_heads, both_directions=stack == "encoder" or not self.config.causal
        )
        # A bound method, not the module: each layer has the table at hand, but it is a parameter of the stack alone.
        return positions.relative.forward
