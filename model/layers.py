"""The encoder layer, the decoder layer and their feed-forward network (Vaswani et al. 2017, §3)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import KeyValue, Mask, MultiHeadAttention
from model.config import ModelConfig
from model.dropout import dropout
from model.tap import Tap, through, within


class FeedForward(nn.Module):
    """W₂·act(W₁·x + b₁) + b₂ at each position alone (§3.3, eq. 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear1 = nn.Linear(config.d_model, config.d_ff)
        self.linear2 = nn.Linear(config.d_ff, config.d_model)
        self.activation = getattr(F, config.activation)  # relu, gelu or silu
        self.dropout = config.activation_dropout

    def forward(self, x: Tensor, *, tap: Tap | None = None) -> Tensor:
        """[batch, seq, d_model] -> [batch, seq, d_model]."""
        hidden = through(tap, "linear1", self.linear1(x))
        hidden = dropout(self.activation(hidden), self.dropout, self.training)
        hidden = through(tap, "activation", hidden)
        return through(tap, "linear2", self.linear2(hidden))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        heads, p = config.n_encoder_heads, config.attention_dropout
        self.norm_first = config.norm_first
        self.dropout = config.dropout
        self.self_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.feed_forward = FeedForward(config)
        self.norm1 = nn.LayerNorm(config.d_model)
        self.norm2 = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, *, mask: Mask = None, tap: Tap | None = None) -> Tensor:
        """[batch, src, d_model] -> [batch, src, d_model]."""
        self_tap, feed_tap = within(tap, "self_attn"), within(tap, "feed_forward")
        if self.norm_first:  # pre-norm (Xiong et al. 2020)
            y = through(tap, "norm1", self.norm1(x))
            y = self.self_attn(y, y, mask=mask, tap=self_tap)
            x = through(tap, "residual1", x + dropout(y, self.dropout, self.training))
            y = through(tap, "norm2", self.norm2(x))
            y = self.feed_forward(y, tap=feed_tap)
            x = through(tap, "residual2", x + dropout(y, self.dropout, self.training))
        else:  # post-norm, as in the paper
            y = self.self_attn(x, x, mask=mask, tap=self_tap)
            x = through(tap, "residual1", x + dropout(y, self.dropout, self.training))
            x = through(tap, "norm1", self.norm1(x))
            y = self.feed_forward(x, tap=feed_tap)
            x = through(tap, "residual2", x + dropout(y, self.dropout, self.training))
            x = through(tap, "norm2", self.norm2(x))
        return x


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's memory, then feed-forward (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        heads, p = config.n_decoder_heads, config.attention_dropout
        self.norm_first = config.norm_first
        self.dropout = config.dropout
        self.self_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.cross_attn = MultiHeadAttention(config.d_model, heads, dropout_p=p)
        self.feed_forward = FeedForward(config)
        self.norm1 = nn.LayerNorm(config.d_model)
        self.norm2 = nn.LayerNorm(config.d_model)
        self.norm3 = nn.LayerNorm(config.d_model)

    def forward(
        self,
        x: Tensor,
        cross_kv: KeyValue,
        past_kv: KeyValue | None = None,
        *,
        self_mask: Mask = None,
        cross_mask: Mask = None,
        tap: Tap | None = None,
    ) -> tuple[Tensor, KeyValue]:
        """Run the layer on new target positions, which come after those of `past_kv`.

        Shapes:
            x: [batch, new, d_model]; past_kv: two [batch, head, past, d_head];
            cross_kv: two [batch, head, src, d_head], the source by `cross_attn.keys_values`.
            returns: x's shape, and two [batch, head, past + new, d_head], the new `past_kv`.
        """
        self_tap, cross_tap = within(tap, "self_attn"), within(tap, "cross_attn")
        feed_tap = within(tap, "feed_forward")
        if self.norm_first:  # pre-norm (Xiong et al. 2020)
            y = through(tap, "norm1", self.norm1(x))
            self_kv = self.self_attn.keys_values(y, past_kv, tap=self_tap)
            y = self.self_attn.read(y, self_kv, mask=self_mask, tap=self_tap)
            x = through(tap, "residual1", x + dropout(y, self.dropout, self.training))
            y = through(tap, "norm2", self.norm2(x))
            y = self.cross_attn.read(y, cross_kv, mask=cross_mask, tap=cross_tap)
            x = through(tap, "residual2", x + dropout(y, self.dropout, self.training))
            y = through(tap, "norm3", self.norm3(x))
            y = self.feed_forward(y, tap=feed_tap)
            x = through(tap, "residual3", x + dropout(y, self.dropout, self.training))
        else:  # post-norm, as in the paper
            self_kv = self.self_attn.keys_values(x, past_kv, tap=self_tap)
            y = self.self_attn.read(x, self_kv, mask=self_mask, tap=self_tap)
            x = through(tap, "residual1", x + dropout(y, self.dropout, self.training))
            x = through(tap, "norm1", self.norm1(x))
            y = self.cross_attn.read(x, cross_kv, mask=cross_mask, tap=cross_tap)
            x = through(tap, "residual2", x + dropout(y, self.dropout, self.training))
            x = through(tap, "norm2", self.norm2(x))
            y = self.feed_forward(x, tap=feed_tap)
            x = through(tap, "residual3", x + dropout(y, self.dropout, self.training))
            x = through(tap, "norm3", self.norm3(x))
        return x, self_kv
