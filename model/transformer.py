"""The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017).

It encodes a source, and reads a target at once (teacher forcing) or token by token.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.attention import KeyValue, Mask
from model.config import ModelConfig
from model.dropout import dropout
from model.embeddings import EncoderDecoder
from model.layers import DecoderLayer, EncoderLayer
from model.masks import padding_mask, target_mask
from model.positions import PositionalEncoding
from model.state import DecodeState
from model.tap import Tap, through, within


class Encoder(nn.Module):
    """A stack of encoder layers; a pre-norm stack ends with a norm of its own (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, x: Tensor, *, mask: Mask, tap: Tap | None = None) -> Tensor:
        """[batch, src, d_model] -> [batch, src, d_model]."""
        for i, layer in enumerate(self.layers):
            x = layer(x, mask=mask, tap=within(tap, i))
        return through(tap, "norm", self.norm(x)) if self.norm_first else x


class Decoder(nn.Module):
    """A stack of decoder layers; a pre-norm stack ends with a norm of its own (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def project_memory(self, memory: Tensor, *, tap: Tap | None = None) -> tuple[KeyValue, ...]:
        """The source's keys and values for each layer, from memory [batch, src, d_model]."""
        cross_kv = []
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, DecoderLayer)
            layer_tap = within(within(tap, i), "cross_attn")
            cross_kv.append(layer.cross_attn.keys_values(memory, tap=layer_tap))
        return tuple(cross_kv)

    def forward(
        self,
        x: Tensor,
        cross_kv: tuple[KeyValue, ...],
        past_kv: tuple[KeyValue, ...] = (),
        *,
        self_mask: Mask,
        cross_mask: Mask,
        tap: Tap | None = None,
    ) -> tuple[Tensor, tuple[KeyValue, ...]]:
        """Run all layers on new target positions; per layer, arguments as in DecoderLayer."""
        self_kv = []
        masks = {"self_mask": self_mask, "cross_mask": cross_mask}
        for i, layer in enumerate(self.layers):
            past = past_kv[i] if past_kv else None
            x, key_value = layer(x, cross_kv[i], past, **masks, tap=within(tap, i))
            self_kv.append(key_value)
        return through(tap, "norm", self.norm(x)) if self.norm_first else x, tuple(self_kv)


class Transformer(EncoderDecoder):
    """The paper's model; model.architectures makes it, or a variant, from a configuration."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if config.is_variant and type(self) is Transformer:
            raise ValueError("this configuration asks for a variant: use make_model.")
        self.positions_src = PositionalEncoding(config)
        self.positions_tgt = PositionalEncoding(config)
        if config.norm_embeddings:  # BART (Lewis et al. 2020)
            self.norm_src = nn.LayerNorm(config.d_model)
            self.norm_tgt = nn.LayerNorm(config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.add_output()
        scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        self.embedding_factor = config.embedding_factor or scale
        self.reset_parameters()

    def embed(self, ids: Tensor, *, side: str, offset: int = 0, tap: Tap | None = None) -> Tensor:
        """Embedding · √d_model + position, then dropout (§3.4–3.5), of the tokens from `offset` on.

        Shapes:
            ids: [batch, seq], of the "src" or "tgt" side.
            returns: [batch, seq - offset, d_model].
        """
        embedding = self.src_embedding if side == "src" else self.tgt_embedding
        positions = self.positions_src if side == "src" else self.positions_tgt
        tap = within(tap, side)
        ids = through(tap, "tokens", ids)
        x = through(tap, "embedding", embedding(ids[:, offset:]))
        x = through(tap, "scaled", x * self.embedding_factor)
        x = through(tap, "positions", positions(x, offset))
        if self.config.norm_embeddings:
            norm = self.norm_src if side == "src" else self.norm_tgt
            x = through(tap, "norm", norm(x))
        return dropout(x, self.dropout, self.training)

    def encode(self, src: Tensor, *, src_mask: Mask = None, tap: Tap | None = None) -> Tensor:
        """Read the source.

        Shapes:
            src: [batch, src] ids, right-padded; src_mask: masks.padding_mask(src) by default.
            returns: memory [batch, src, d_model].
        """
        mask = padding_mask(src) if src_mask is None else src_mask
        x = self.embed(src, side="src", tap=tap)
        return self.encoder(x, mask=mask, tap=within(tap, "encoder"))

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        *,
        src_mask: Tensor,
        tgt_mask: Mask = None,
        tap: Tap | None = None,
    ) -> Tensor:
        """Read a whole target at once (teacher forcing).

        Shapes:
            tgt: [batch, tgt] ids, <sos> first, right-padded; memory: [batch, src, d_model];
            src_mask: [batch, 1, 1, src]; tgt_mask: masks.target_mask(tgt) by default.
            returns: hidden [batch, tgt, d_model]; `logits(hidden)` scores the token after each row.
        """
        if tgt_mask is None:
            tgt_mask = target_mask(tgt, causal=self.config.causal)
        x = self.embed(tgt, side="tgt", tap=tap)
        tap = within(tap, "decoder")
        cross_kv = self.decoder.project_memory(memory, tap=tap)
        hidden, _ = self.decoder(x, cross_kv, self_mask=tgt_mask, cross_mask=src_mask, tap=tap)
        return hidden

    def forward(self, src: Tensor, tgt: Tensor, *, tap: Tap | None = None) -> Tensor:
        """Logits of the token after each target row.

        Shapes:
            src: [batch, src] ids; tgt: [batch, tgt] ids, <sos> first.
            returns: [batch, tgt, tgt_vocab].
        """
        src_mask = padding_mask(src)
        memory = self.encode(src, src_mask=src_mask, tap=tap)
        return self.logits(self.decode(tgt, memory, src_mask=src_mask, tap=tap), tap=tap)

    def start(
        self,
        src: Tensor,
        *,
        src_mask: Mask = None,
        causal: bool | None = None,
        tap: Tap | None = None,
    ) -> DecodeState:
        """Read the source and be ready for <sos>.

        Shapes:
            src: [batch, src] ids, right-padded; src_mask: masks.padding_mask(src) by default.
        `causal` overrides the configuration for all steps: False lets rows see the future.
        """
        src_mask = padding_mask(src) if src_mask is None else src_mask
        memory = self.encode(src, src_mask=src_mask, tap=tap)
        return DecodeState(
            self_kv=(),
            cross_kv=self.decoder.project_memory(memory, tap=within(tap, "decoder")),
            # A single sentence has no padding: a mask that closes nothing is not applied.
            src_mask=None if bool(src_mask.all()) else src_mask,
            tokens=src.new_empty(src.size(0), 0),
            sources=torch.arange(src.size(0)),
            causal=self.config.causal if causal is None else causal,
        )

    def step(
        self,
        tokens: Tensor,
        state: DecodeState,
        *,
        tap: Tap | None = None,
    ) -> tuple[Tensor, DecodeState]:
        """Read one more token per hypothesis; the given state stays as it was.

        Shapes:
            tokens: [batch] ids.
            returns: logits [batch, tgt_vocab] of the token after it, and the new state.
        A decoder that is not causal has no keys to keep: every row changes with each token, so it
        reads all of them again.
        """
        read = torch.cat((state.tokens, tokens[:, None].to(state.tokens.device)), dim=1)
        offset = state.position if state.causal else 0
        hidden, self_kv = self.decoder(
            self.embed(read, side="tgt", offset=offset, tap=tap),
            state.cross_kv,
            state.self_kv,
            self_mask=None,  # the only query is the newest token: all that was read is its past
            cross_mask=state.src_mask,
            tap=within(tap, "decoder"),
        )
        logits = self.logits(hidden[:, -1], tap=tap)  # [batch, new, d_model] -> [batch, tgt_vocab]
        return logits, state.after(read, self_kv if state.causal else ())
