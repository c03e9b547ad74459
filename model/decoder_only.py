"""A Transformer without encoder and cross-attention, as in GPT: one decoder reads a prompt and continues it.

It has the interface of the encoder-decoder, so the same code trains, decodes, records and edits it. Source and target
are one sequence with one vocabulary. A *prefix model*, which is trained on pairs, reads source, <eos>, <sos>, target; a
language model from elsewhere (`separator=false`) reads text alone.

In a batch, the padding of shorter sources is moved to their front, so that all targets begin in the same column.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import KeyValue, Mask, MultiHeadAttention
from model.config import PAD, SOS, ModelConfig
from model.embeddings import EncoderDecoder
from model.layers import FeedForward, Layer
from model.masks import padding_mask, target_mask
from model.positions import PositionalEncoding
from model.state import DecodeState
from model.tap import LayerNorm, Tap, tapped
from model.transformer import Decoder
from model.variants import TransformerVariant, WithoutResidual


class DecoderOnlyLayer(Layer):
    """Masked self-attention, then feed-forward: a decoder layer without attention to a source."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.self_attn = MultiHeadAttention(config.d_model, config.n_decoder_heads, dropout_p=config.attention_dropout)
        self.feed_forward = FeedForward(config)
        self.norm1 = LayerNorm(config.d_model)
        self.norm2 = LayerNorm(config.d_model)

    def forward(self, x: Tensor, past_kv: KeyValue | None = None, *, self_mask: Mask = None) -> tuple[Tensor, KeyValue]:
        """As :class:`model.layers.DecoderLayer`, without a source."""
        h = self.before(1, x)
        self_kv = self.self_attn.keys_values(h, past_kv)
        x = self.after(1, x, self.self_attn.read(h, self_kv, mask=self_mask))
        h = self.before(2, x)
        return self.after(2, x, self.feed_forward(h)), self_kv


class DecoderOnlyLayerWithoutResidual(WithoutResidual, DecoderOnlyLayer):
    """Such a layer without residual connections."""


class DecoderOnlyStack(Decoder):
    """A stack of layers without cross-attention."""

    def __init__(self, config: ModelConfig) -> None:
        super(Decoder, self).__init__()
        layer = DecoderOnlyLayer if config.residual else DecoderOnlyLayerWithoutResidual
        self.layers = nn.ModuleList(layer(config) for _ in range(config.n_decoder_layers))
        self.norm = LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def project_memory(self, memory: Tensor) -> tuple[KeyValue, ...]:
        """No keys and values, since nothing attends to a memory."""
        return ()

    def forward(
        self,
        x: Tensor,
        cross_kv: tuple[KeyValue, ...],
        past_kv: tuple[KeyValue, ...] = (),
        *,
        self_mask: Mask,
        cross_mask: Mask,
        start: int = 0,
    ) -> tuple[Tensor, tuple[KeyValue, ...]]:
        """Run the layers from `start` on; in steps, `cross_mask` [batch, 1, 1, prompt] hides the padding of prompts."""
        if self_mask is None:
            self_mask = extended(cross_mask, x.size(1) + (past_kv[0][0].size(2) if past_kv else 0))
        self_kv = []
        for i in range(start, len(self.layers)):
            x, kv = self.layers[i](x, past_kv[i] if past_kv else None, self_mask=self_mask)
            self_kv.append(kv)
        return self.norm(x), tuple(self_kv)


class DecoderOnly(TransformerVariant):
    """The decoder alone; :func:`model.architectures.make_model` makes it for `architecture=decoder`."""

    def __init__(self, config: ModelConfig) -> None:
        EncoderDecoder.__init__(self, config)
        self.positions_tgt = PositionalEncoding(config)
        if config.norm_embeddings:
            self.norm_tgt = LayerNorm(config.d_model)
        self.decoder = DecoderOnlyStack(config)
        self.add_output()
        self.embedding_factor = config.embedding_factor or (math.sqrt(config.d_model) if config.scale_embeddings else 1)
        self.replace_parts()

    def embed(self, ids: Tensor, *, side: str = "tgt", offset: int = 0) -> Tensor:
        """As the encoder-decoder's; positions count from each row's first token that is no padding.

        Shapes:
            ids: [batch, seq]; returns [batch, seq - offset, d_model].
        """
        places = token_positions(ids)[:, offset:]
        ids = self.point("tgt.tokens", ids)
        x = self.point("tgt.embedding", self.tgt_embedding(ids[:, offset:]))
        x = self.point("tgt.scaled", x * self.embedding_factor)
        # A batch may be longer than its longest row, since padding is at either side.
        longest = ids.size(1) if len(ids) == 1 else min(ids.size(1), self.config.max_positions)
        rows = self.positions_tgt.table(longest)
        x = self.point("tgt.positions", x if rows is None else x + rows[places])
        return self.dropout(self.norm_tgt(x) if self.config.norm_embeddings else x)

    def opening(self, src: Tensor) -> tuple[Tensor, Tensor]:
        """Split sources into what :meth:`start` reads and the token that the first step reads.

        That token is <sos>; or, in a model that continues text, the last one of the source, whose <eos> is not read.

        Shapes:
            src: [batch, src] ids with <eos>, right-padded.
            returns: [batch, prompt] ids with padding at the front, and [batch] ids.
        """
        if self.config.separator or not src.size(1):
            return padding_first(src), src.new_full((src.size(0),), SOS)
        last = (src != PAD).sum(1, keepdim=True).clamp(min=1) - 1
        prompt = padding_first(src.scatter(1, last, PAD))[:, 1:]
        if not prompt.size(1):
            return prompt, src.new_full((src.size(0),), SOS)
        return prompt[:, :-1], prompt[:, -1].masked_fill(prompt[:, -1] == PAD, SOS)

    def encode(self, src: Tensor, *, src_mask: Mask = None, tap: Tap | None = None) -> Tensor:
        """An empty memory, [batch, 0, d_model]: there is no encoder, and :meth:`decode` reads everything."""
        return self.tgt_embedding.weight.new_empty(src.size(0), 0, self.config.d_model)

    def joined(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Source and target as one sequence, [batch, seq]; its last columns are those of the target.

        Shapes:
            src: [batch, src] ids with <eos>, right-padded, or [batch, 0] if `tgt` is the whole sequence;
            tgt: [batch, tgt] ids, <sos> first.
        """
        if self.config.separator or not src.size(1):
            return torch.cat((padding_first(src), tgt), dim=1)
        prompt, first = self.opening(src)
        return torch.cat((prompt, first[:, None], tgt[:, 1:]), dim=1)

    def forward(self, src: Tensor, tgt: Tensor, *, tap: Tap | None = None) -> Tensor:
        """Logits of the next token at each target position.

        Shapes:
            src, tgt: as for :meth:`joined`; returns [batch, tgt, tgt_vocab].
        """
        with tapped(tap):
            hidden = self.decode(self.joined(src, tgt), self.encode(src), src_mask=None)
            return self.logits(hidden)[:, -tgt.size(1) :]

    def start(self, src: Tensor, *, tap: Tap | None = None) -> DecodeState:
        """Read a prompt at once, and return the state after it.

        Shapes:
            src: [batch, prompt] ids, possibly none at all; a prefix model reads whole sources, another one what
            :meth:`opening` says.
        """
        src = padding_first(src)
        mask = padding_mask(src)
        state = DecodeState(
            self_kv=(),
            cross_kv=(),
            src_mask=None if bool(mask.all()) else mask,
            tokens=src,
            sources=torch.arange(src.size(0)),
            causal=self.config.causal,
        )
        if not state.causal or not src.size(1):
            return state
        with tapped(tap):
            _, self_kv = self.decoder(self.embed(src), (), self_mask=target_mask(src) & mask, cross_mask=None)
        return state.after(src, self_kv)


def padding_first(ids: Tensor) -> Tensor:
    """Move the padding of each row [batch, seq] to its front."""
    return ids.gather(1, (ids != PAD).int().argsort(dim=1, stable=True))


def token_positions(ids: Tensor) -> Tensor:
    """The position of each token [batch, seq] in its row, from 0; padding before the first has position 0."""
    return ((ids != PAD).cumsum(dim=1) - 1).clamp(min=0)


def extended(mask: Mask, length: int) -> Mask:
    """The mask of a prompt [batch, 1, 1, prompt] for keys up to `length`: the tokens after the prompt are visible."""
    return None if mask is None else F.pad(mask, (0, length - mask.size(-1)), value=True)
