"""One encoder layer, one decoder layer, and the feed-forward network and norms that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import Edit, MultiHeadAttention, Note, Record, within
from model.config import ModelConfig
from model.dropout import dropout

LAYER_NORM_EPS = 1e-5

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class ScalarLayerNorm(nn.Module):
    """Layer norm with one scale and one shift for the whole vector, as some tutorials write it."""

    def __init__(self, eps: float = LAYER_NORM_EPS) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise over the last axis; the shape stays."""
        return F.layer_norm(x, x.shape[-1:], eps=self.eps) * self.weight + self.bias


def make_norm(config: ModelConfig) -> nn.Module:
    """The layer norm that `config.layer_norm` names."""
    return ScalarLayerNorm() if config.layer_norm == "scalar" else nn.LayerNorm(config.d_model, eps=LAYER_NORM_EPS)


class PositionwiseFeedForward(nn.Module):
    """W₂·act(W₁·x + b₁) + b₂ at each position alone (Vaswani et al. 2017, §3.3, eq. 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear1 = nn.Linear(config.d_model, config.d_ff)
        self.linear2 = nn.Linear(config.d_ff, config.d_model)
        self.activation = _ACTIVATIONS[config.activation]
        self.dropout = config.activation_dropout

    def forward(self, x: Tensor, *, note: Note | None = None) -> Tensor:
        """[batch, seq, d_model] -> [batch, seq, d_model]."""
        raw = self.linear1(x)
        hidden = self.activation(raw)
        if self.training and self.dropout:
            hidden = dropout(hidden, self.dropout)
        out: Tensor = self.linear2(hidden)
        if note is not None:
            note("linear1", raw)
            note("activation", hidden)
            note("linear2", out)
        return out


class Sublayers(nn.Module):
    """What encoder and decoder layers share: dropout, residual connection and norm around a sublayer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.residual = config.residual
        self.dropout = config.dropout

    def around(
        self,
        x: Tensor,
        norm: nn.Module,
        sublayer: Callable[[Tensor], Tensor],
        note: Note | None = None,
        number: int = 0,
    ) -> Tensor:
        """Pre-norm: x + sublayer(norm(x)) (Xiong et al. 2020). Post-norm: norm(x + sublayer(x)), the paper's (§3.1).

        Shapes:
            x: [batch, seq, d_model]; returns the same shape. `number` is the sublayer's, from 1, for `note`.
        """
        read = norm(x) if self.norm_first else x
        if note is not None and self.norm_first:
            note(f"norm{number}", read)
        y = sublayer(read)
        if self.training:  # a module call that does nothing still costs 5 µs, twelve times a decoding step
            y = dropout(y, self.dropout)
        if self.residual:
            y = x + y
            if note is not None:
                note(f"residual{number}", y)
        if self.norm_first:
            return y
        out: Tensor = norm(y)
        if note is not None:
            note(f"norm{number}", out)
        return out

    def feed(self, network: nn.Module, note: Note | None) -> Callable[[Tensor], Tensor]:
        """The feed-forward network as a sublayer that tells `note` what it does."""
        return network if note is None else partial(network, note=within(note, "feed_forward"))


class EncoderLayer(Sublayers):
    """Self-attention, then feed-forward (Vaswani et al. 2017, §3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.self_attn = MultiHeadAttention(
            config.d_model, config.n_encoder_heads, dropout_p=config.attention_dropout, scale=config.scale_scores
        )
        self.feed_forward = PositionwiseFeedForward(config)
        self.norm1 = make_norm(config)
        self.norm2 = make_norm(config)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        fused: bool = False,
        record: Record | None = None,
        edit: Edit | None = None,
        note: Note | None = None,
    ) -> Tensor:
        """Shapes: x [batch, src, d_model]; mask broadcastable to [batch, head, src, src]; returns x's shape."""

        def attend(y: Tensor) -> Tensor:
            heads = within(note, "self_attn")
            out: Tensor = self.self_attn(y, y, mask=mask, fused=fused, record=record, edit=edit, note=heads)
            return out

        x = self.around(x, self.norm1, attend, note, 1)
        return self.around(x, self.norm2, self.feed(self.feed_forward, note), note, 2)


class DecoderLayer(Sublayers):
    """Masked self-attention, attention to the encoder's memory, then feed-forward (Vaswani et al. 2017, §3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.self_attn = MultiHeadAttention(
            config.d_model, config.n_decoder_heads, dropout_p=config.attention_dropout, scale=config.scale_scores
        )
        self.cross_attn = MultiHeadAttention(
            config.d_model, config.n_decoder_heads, dropout_p=config.attention_dropout, scale=config.scale_scores
        )
        self.feed_forward = PositionwiseFeedForward(config)
        self.norm1 = make_norm(config)
        self.norm2 = make_norm(config)
        self.norm3 = make_norm(config)

    def forward(
        self,
        x: Tensor,
        cross_kv: tuple[Tensor, Tensor],
        past_kv: tuple[Tensor, Tensor] | None = None,
        *,
        self_mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        fused: bool = False,
        record: tuple[Record | None, Record | None] = (None, None),
        edit: tuple[Edit | None, Edit | None] = (None, None),
        note: Note | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Run the layer on new target positions, after the `past_kv` of earlier ones if there are any.

        Shapes:
            x: [batch, new, d_model]; cross_kv: two [batch, head, src, d_head];
            past_kv: two [batch, head, past, d_head]; returns x's shape, and the keys and values of past and new
            positions, two [batch, head, past + new, d_head].
        `record` and `edit` are for (self-attention, cross-attention).
        """
        grown: list[Tensor] = []

        def attend_self(y: Tensor) -> Tensor:
            heads = within(note, "self_attn")
            key, value = self.self_attn.keys_values(y, note=heads)
            if past_kv is not None:  # a new tensor: the older state stays valid for stepping back and branching
                key, value = torch.cat((past_kv[0], key), dim=2), torch.cat((past_kv[1], value), dim=2)
            grown.extend((key, value))
            return self.self_attn.attend(
                y, key, value, mask=self_mask, fused=fused, record=record[0], edit=edit[0], note=heads
            )

        def attend_memory(y: Tensor) -> Tensor:
            heads = within(note, "cross_attn")
            return self.cross_attn.attend(
                y, *cross_kv, mask=cross_mask, fused=fused, record=record[1], edit=edit[1], note=heads
            )

        x = self.around(x, self.norm1, attend_self, note, 1)
        x = self.around(x, self.norm2, attend_memory, note, 2)
        x = self.around(x, self.norm3, self.feed(self.feed_forward, note), note, 3)
        return x, (grown[0], grown[1])
