"""The encoder layer, the decoder layer and their feed-forward network (Vaswani et al. 2017, §3)."""

from __future__ import annotations

from torch import Tensor, nn

from model.activations import ACTIVATIONS
from model.attention import KeyValue, Mask, MultiHeadAttention
from model.config import ModelConfig
from model.tap import LayerNorm, Linear, Part


class FeedForward(Part):
    """W₂·act(W₁·x + b₁) + b₂ at each position alone (§3.3, eq. 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear1 = Linear(config.d_model, config.d_ff)
        self.linear2 = Linear(config.d_ff, config.d_model)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.activation_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """[batch, seq, d_model] -> [batch, seq, d_model]."""
        hidden = self.dropout(self.activation(self.linear1(x)))
        return self.linear2(self.point("activation", hidden))


class Layer(Part):
    """Base of both layers: dropout, residual connection and LayerNorm around sublayer n (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.dropout = nn.Dropout(config.dropout)

    def norm(self, n: int, x: Tensor) -> Tensor:
        """LayerNorm of sublayer n, counted from 1; all shapes here are [batch, seq, d_model]."""
        normed: Tensor = getattr(self, f"norm{n}")(x)
        return normed

    def before(self, n: int, x: Tensor) -> Tensor:
        """The input of sublayer n: x, or LayerNorm(x) in a pre-norm model (Xiong et al. 2020)."""
        if self.norm_first:
            return self.norm(n, x)
        return x

    def after(self, n: int, x: Tensor, out: Tensor) -> Tensor:
        """Add & Norm: LayerNorm(x + Dropout(out)); a pre-norm model leaves out the LayerNorm."""
        x = self.residual(n, x, out)
        if self.norm_first:
            return x
        return self.norm(n, x)

    def residual(self, n: int, x: Tensor, out: Tensor) -> Tensor:
        """Residual connection x + Dropout(out) (§5.4), where `out` is the output of sublayer n."""
        return self.point(f"residual{n}", x + self.dropout(out))


class EncoderLayer(Layer):
    """Self-attention, then feed-forward (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        heads, p = config.n_encoder_heads, config.attention_dropout
        self.self_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.feed_forward = FeedForward(config)
        self.norm1 = LayerNorm(config.d_model)
        self.norm2 = LayerNorm(config.d_model)

    def forward(self, x: Tensor, *, mask: Mask = None) -> Tensor:
        """[batch, src, d_model] -> [batch, src, d_model]."""
        h = self.before(1, x)
        x = self.after(1, x, self.self_attn(h, h, mask=mask))
        h = self.before(2, x)
        return self.after(2, x, self.feed_forward(h))


class DecoderLayer(Layer):
    """Masked self-attention, attention to the encoder's memory, then feed-forward (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        heads, p = config.n_decoder_heads, config.attention_dropout
        self.self_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.cross_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.feed_forward = FeedForward(config)
        self.norm1 = LayerNorm(config.d_model)
        self.norm2 = LayerNorm(config.d_model)
        self.norm3 = LayerNorm(config.d_model)

    def forward(
        self,
        x: Tensor,
        cross_kv: KeyValue,
        past_kv: KeyValue | None = None,
        *,
        self_mask: Mask = None,
        cross_mask: Mask = None,
    ) -> tuple[Tensor, KeyValue]:
        """Run the layer on new target positions, which come after those of `past_kv`.

        Shapes:
            x: [batch, new, d_model]; past_kv: a pair [batch, head, past, d_head];
            cross_kv: a pair [batch, head, src, d_head], from `cross_attn.keys_values(memory)`.
            returns: x's shape, and a pair [batch, head, past + new, d_head], the next `past_kv`.
        """
        h = self.before(1, x)
        self_kv = self.self_attn.keys_values(h, past_kv)
        x = self.after(1, x, self.self_attn.read(h, self_kv, mask=self_mask))
        h = self.before(2, x)
        x = self.after(2, x, self.cross_attn.read(h, cross_kv, mask=cross_mask))
        h = self.before(3, x)
        return self.after(3, x, self.feed_forward(h)), self_kv
