"""The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017).

It encodes a source, then reads a target all at once (teacher forcing) or token by token.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.attention import KeyValue, Mask
from model.config import ModelConfig
from model.embeddings import EncoderDecoder
from model.layers import DecoderLayer, EncoderLayer
from model.masks import padding_mask, target_mask
from model.positions import PositionalEncoding
from model.state import DecodeState
from model.tap import LayerNorm, Part, Tap, name_points, tapped


class Encoder(Part):
    """A stack of layers (§3.1); a pre-norm stack adds a final LayerNorm (Xiong et al. 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, x: Tensor, *, mask: Mask, start: int = 0) -> Tensor:
        """Run the layers from `start` on: [batch, src, d_model] -> [batch, src, d_model]."""
        for layer in list(self.layers)[start:]:
            x = layer(x, mask=mask)
        return self.norm(x)


class Decoder(Part):
    """A stack of layers (§3.1); a pre-norm stack adds a final LayerNorm (Xiong et al. 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.norm = LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def project_memory(self, memory: Tensor) -> tuple[KeyValue, ...]:
        """The source's keys and values for each layer, from memory [batch, src, d_model]."""
        cross_kv = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            cross_kv.append(layer.cross_attn.keys_values(memory))
        return tuple(cross_kv)

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
        """Run the layers from `start` on, each with its entries: see DecoderLayer."""
        self_kv = []
        for i in range(start, len(self.layers)):
            past = past_kv[i] if past_kv else None
            x, kv = self.layers[i](x, cross_kv[i], past, self_mask=self_mask, cross_mask=cross_mask)
            self_kv.append(kv)
        return self.norm(x), tuple(self_kv)


class Transformer(EncoderDecoder):
    """The paper's model (§3, figure 1); model.architectures.make_model makes it, or a variant."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if config.is_variant and type(self) is Transformer:
            raise ValueError("this configuration asks for a variant: use make_model.")
        self.positions_src = PositionalEncoding(config)
        self.positions_tgt = PositionalEncoding(config)
        if config.norm_embeddings:  # BART (Lewis et al. 2020)
            self.norm_src = LayerNorm(config.d_model)
            self.norm_tgt = LayerNorm(config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.add_output()
        scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        self.embedding_factor = config.embedding_factor or scale
        name_points(self)
        self.reset_parameters()

    def embed(self, ids: Tensor, *, side: str, offset: int = 0) -> Tensor:
        """Dropout(embedding · √d_model + position) (§3.4, 3.5, 5.4) of the tokens from `offset` on.

        Shapes:
            ids: [batch, seq], of the "src" or "tgt" side.
            returns: [batch, seq - offset, d_model].
        """
        embedding = self.src_embedding if side == "src" else self.tgt_embedding
        positions = self.positions_src if side == "src" else self.positions_tgt
        ids = self.point(f"{side}.tokens", ids)
        x = self.point(f"{side}.embedding", embedding(ids[:, offset:]))
        x = self.point(f"{side}.scaled", x * self.embedding_factor)
        x = self.point(f"{side}.positions", positions(x, offset))
        if self.config.norm_embeddings:
            x = self.norm_src(x) if side == "src" else self.norm_tgt(x)
        return self.dropout(x)

    def encode(self, src: Tensor, *, src_mask: Mask = None, tap: Tap | None = None) -> Tensor:
        """Read the source.

        Shapes:
            src: [batch, src] ids, right-padded; src_mask: masks.padding_mask(src) by default.
            returns: memory [batch, src, d_model].
        """
        mask = padding_mask(src) if src_mask is None else src_mask
        with tapped(tap):
            memory: Tensor = self.encoder(self.embed(src, side="src"), mask=mask)
        return memory

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        *,
        src_mask: Mask,
        tgt_mask: Mask = None,
        tap: Tap | None = None,
    ) -> Tensor:
        """Read a whole target at once (teacher forcing).

        Shapes:
            tgt: [batch, tgt] ids, <sos> first, right-padded; memory: [batch, src, d_model];
            src_mask: [batch, 1, 1, src]; tgt_mask: masks.target_mask(tgt) by default.
            returns: hidden [batch, tgt, d_model]; `logits(hidden)` scores the next tokens.
        """
        if tgt_mask is None:
            tgt_mask = target_mask(tgt, causal=self.config.causal)
        with tapped(tap):
            x = self.embed(tgt, side="tgt")
            cross_kv = self.decoder.project_memory(memory)
            hidden: Tensor
            hidden, _ = self.decoder(x, cross_kv, self_mask=tgt_mask, cross_mask=src_mask)
        return hidden

    def forward(self, src: Tensor, tgt: Tensor, *, tap: Tap | None = None) -> Tensor:
        """Logits of the next token at each target position.

        Shapes:
            src: [batch, src] ids; tgt: [batch, tgt] ids, <sos> first.
            returns: [batch, tgt, tgt_vocab].
        """
        src_mask = padding_mask(src)
        with tapped(tap):
            memory = self.encode(src, src_mask=src_mask)
            return self.logits(self.decode(tgt, memory, src_mask=src_mask))

    def start(self, src: Tensor, *, tap: Tap | None = None) -> DecodeState:
        """Encode the source, and return the state before the first target token, <sos>.

        Shapes:
            src: [batch, src] ids, right-padded.
        """
        src_mask = padding_mask(src)
        with tapped(tap):
            cross_kv = self.decoder.project_memory(self.encode(src, src_mask=src_mask))
        return DecodeState(
            self_kv=(),
            cross_kv=cross_kv,
            # A single sentence has no padding: a mask that is True everywhere is dropped.
            src_mask=None if bool(src_mask.all()) else src_mask,
            tokens=src.new_empty(src.size(0), 0),
            sources=torch.arange(src.size(0)),
            causal=self.config.causal,
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
            returns: logits [batch, tgt_vocab] of the token that follows, and the new state.
        Without a causal mask, a new token changes the result at every earlier position, so nothing can be kept and
        the whole prefix is read again.
        """
        read = torch.cat((state.tokens, tokens[:, None].to(state.tokens.device)), dim=1)
        offset = state.position if state.causal else 0
        with tapped(tap):
            hidden, self_kv = self.decoder(
                self.embed(read, side="tgt", offset=offset),
                state.cross_kv,
                state.self_kv,
                self_mask=None,  # the newest token sees all before it; without a causal mask, all see all
                cross_mask=state.src_mask,
            )
            logits = self.logits(hidden[:, -1])  # [batch, d_model] -> [batch, tgt_vocab]
        return logits, state.after(read, self_kv if state.causal else ())
