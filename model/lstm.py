"""The architecture that the Transformer replaced: an LSTM encoder-decoder with one attention head.

A bidirectional LSTM reads the source (Bahdanau et al. 2015, §3.2); a second LSTM reads the target, and each of its
states attends to the source with the "general" score of Luong et al. (2015) before it predicts. The model has the
Transformer's interface, so the same code trains, decodes, records and edits it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.attention import scaled_dot_product_attention
from model.config import PAD, ModelConfig
from model.embeddings import EncoderDecoder
from model.masks import padding_mask
from model.points import attention_scope
from model.state import ReadTokens
from model.tap import Tap, tapped


@dataclass(frozen=True)
class LSTMState(ReadTokens):
    """Everything the decoder needs to read one more token; each step makes a new state and leaves the old one valid.

    Shapes:
        hidden, cell: [layer, batch, d_model]; memory, key: [batch, src, d_model], the encoded source, and its
        projection to keys; src_mask: [batch, 1, 1, src] bool; tokens: [batch, read] ids read so far.
    """

    hidden: Tensor
    cell: Tensor
    memory: Tensor
    key: Tensor
    src_mask: Tensor
    tokens: Tensor

    def select(self, rows: Tensor) -> LSTMState:
        """A state of the given batch rows, repeated or dropped as listed: rows [new batch] indices."""
        rows = rows.to(self.tokens.device)
        return LSTMState(
            hidden=self.hidden.index_select(1, rows),
            cell=self.cell.index_select(1, rows),
            memory=self.memory.index_select(0, rows),
            key=self.key.index_select(0, rows),
            src_mask=self.src_mask.index_select(0, rows),
            tokens=self.tokens.index_select(0, rows),
        )


class LSTM(EncoderDecoder):
    """An LSTM encoder-decoder with attention. Its only attention is cross-attention, [1 layer, 1 head, tgt, src]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        d_model = config.d_model
        n_encoder, n_decoder = config.n_encoder_layers, config.n_decoder_layers
        self.encoder = nn.LSTM(
            d_model,
            d_model // 2,
            n_encoder,
            bidirectional=True,
            batch_first=True,
            dropout=config.dropout if n_encoder > 1 else 0.0,
        )
        self.decoder = nn.LSTM(
            d_model, d_model, n_decoder, batch_first=True, dropout=config.dropout if n_decoder > 1 else 0.0
        )
        self.initial = nn.Linear(d_model, n_decoder * d_model)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.combine = nn.Linear(2 * d_model, d_model, bias=False)
        self.add_output()
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise the weights: Xavier for each gate and projection, forget gates open, Transformer embeddings."""
        for name, parameter in self.named_parameters():  # each tied matrix appears once
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.config.d_model**-0.5, generator=generator)
                parameter[PAD].zero_()
            elif "bias" in name:
                nn.init.zeros_(parameter)
                if "bias_ih" in name:  # the second of four gates: the forget gate starts open
                    parameter[len(parameter) // 4 : len(parameter) // 2] = 1.0
            else:
                for gate in parameter.chunk(4) if name.startswith(("encoder", "decoder")) else (parameter,):
                    nn.init.xavier_uniform_(gate, generator=generator)

    def embed(self, tokens: Tensor, *, side: str, offset: int = 0) -> Tensor:
        """Embeddings of the tokens from `offset` on; no positions are added, since an LSTM reads in order.

        Shapes:
            tokens: [batch, seq] ids of the "src" or "tgt" side; returns [batch, seq - offset, d_model].
        """
        embedding = self.src_embedding if side == "src" else self.tgt_embedding
        tokens = self.point(f"{side}.tokens", tokens)
        return self.dropout(self.point(f"{side}.embedding", embedding(tokens[:, offset:])))

    def encode(self, src: Tensor, *, src_mask: Tensor | None = None, tap: Tap | None = None) -> Tensor:
        """Read the source in both directions.

        Shapes:
            src: [batch, src] ids, right-padded; src_mask: masks.padding_mask(src) by default.
            returns: memory [batch, src, d_model], 0 where the source is padding.
        """
        mask = padding_mask(src) if src_mask is None else src_mask
        lengths = mask[:, 0, 0].sum(dim=1).clamp(min=1)
        with tapped(tap):
            x = self.embed(src, side="src")
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            memory, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=src.size(1))
            return self.point("encoder.memory", memory)

    def _initial(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """The decoder's first hidden and cell state, from the encoder's output at the first token.

        There the backward LSTM has read the whole source. Source: Bahdanau et al. 2015, A.2.2, without the forward
        half, which is included here and has read one token.
        """
        flat = torch.tanh(self.initial(memory[:, 0]))  # [batch, layer · d_model]
        hidden = flat.view(len(memory), -1, self.config.d_model).transpose(0, 1).contiguous()  # [layer, batch, d_model]
        hidden = self.point("decoder.initial", hidden)
        return hidden, torch.zeros_like(hidden)

    def _combine(self, states: Tensor, key: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """tanh(W·[context; state]) of each decoder state (Luong et al. 2015, §3, eq. 5 and 8).

        Shapes:
            states: [batch, tgt, d_model]; key, memory: [batch, src, d_model]; returns [batch, tgt, d_model].
        """
        scope = attention_scope("cross", 0)

        def point(name: str, tensor: Tensor) -> Tensor:
            return self.point(f"{scope}.{name}", tensor)

        states = self.point("decoder.states", states)
        query = point("query", states[:, None])  # [batch, tgt, d_model] -> [batch, head = 1, tgt, d_model]
        key = point("key", key[:, None])
        value = point("value", memory[:, None])
        if not self.config.scale_scores:
            query = query * math.sqrt(query.size(-1))  # undoes the division by √d_head
        context, _ = scaled_dot_product_attention(query, key, value, mask=src_mask, point=point)
        combined = torch.tanh(self.combine(torch.cat((context[:, 0], states), dim=-1)))
        return self.dropout(self.point("decoder.combined", combined))

    def decode(self, tgt: Tensor, memory: Tensor, *, src_mask: Tensor, tap: Tap | None = None) -> Tensor:
        """Read a whole target at once (teacher forcing).

        Shapes:
            tgt: [batch, tgt] ids, <sos> first, right-padded; memory: [batch, src, d_model];
            src_mask: [batch, 1, 1, src]; returns hidden [batch, tgt, d_model].
        """
        with tapped(tap):
            states, _ = self.decoder(self.embed(tgt, side="tgt"), self._initial(memory))
            return self._combine(states, self.k_proj(memory), memory, src_mask)

    def forward(self, src: Tensor, tgt: Tensor, *, tap: Tap | None = None) -> Tensor:
        """Logits of the token after each target row: src [batch, src], tgt [batch, tgt] -> [batch, tgt, tgt_vocab]."""
        src_mask = padding_mask(src)
        with tapped(tap):
            memory = self.encode(src, src_mask=src_mask)
            return self.logits(self.decode(tgt, memory, src_mask=src_mask))

    def start(self, src: Tensor, *, tap: Tap | None = None) -> LSTMState:
        """Encode the source and return the state before <sos>; arguments as for the Transformer."""
        src_mask = padding_mask(src)
        with tapped(tap):
            memory = self.encode(src, src_mask=src_mask)
            hidden, cell = self._initial(memory)
        return LSTMState(hidden, cell, memory, self.k_proj(memory), src_mask, src.new_empty(src.size(0), 0))

    def step(self, tokens: Tensor, state: LSTMState, *, tap: Tap | None = None) -> tuple[Tensor, LSTMState]:
        """Read one more token per hypothesis; the given state is unchanged.

        Shapes:
            tokens: [batch] ids; returns logits [batch, tgt_vocab] of the next token, and the new state.
        """
        read = torch.cat((state.tokens, tokens[:, None].to(state.tokens.device)), dim=1)  # [batch, read + 1]
        with tapped(tap):
            x = self.embed(read, side="tgt", offset=state.position)
            states, (hidden, cell) = self.decoder(x, (state.hidden, state.cell))
            combined = self._combine(states, state.key, state.memory, state.src_mask)
            logits = self.logits(combined[:, -1])
        return logits, LSTMState(hidden, cell, state.memory, state.key, state.src_mask, read)
