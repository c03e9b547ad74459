"""The encoder-decoder Transformer: encode a source, decode a whole target at once, or step through it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.config import PAD, ModelConfig
from model.dropout import dropout
from model.edits import HeadEdits
from model.embeddings import EmbeddedModel
from model.masks import padding_mask, target_mask
from model.positions import PositionalEncoding
from model.recorder import AttentionRecorder
from model.stacks import Decoder, Encoder, KeyValue


@dataclass(frozen=True)
class DecodeState:
    """Everything a decoder needs to read one more token; steps make new states and leave old ones valid.

    Shapes:
        self_kv: per layer, keys and values of the tokens read so far, two [batch, head, read, d_head]; empty for a
            decoder that is not causal, which must look at all of them again.
        cross_kv: per layer, keys and values of the source, projected once, two [batch, head, src, d_head].
        src_mask: [batch, 1, 1, src] bool, or None where no source is padded. tokens: [batch, read] ids read so far.
        sources: [batch], on the CPU: which of the sources given to `start` each hypothesis translates.
    """

    self_kv: tuple[KeyValue, ...]
    cross_kv: tuple[KeyValue, ...]
    src_mask: Tensor | None
    tokens: Tensor
    sources: Tensor

    @property
    def position(self) -> int:
        """How many tokens were read, which is the position of the next one."""
        return self.tokens.size(1)

    @property
    def batch_size(self) -> int:
        """How many hypotheses stand side by side."""
        return self.tokens.size(0)

    def select(self, rows: Tensor) -> DecodeState:
        """A state of the given batch rows, repeated or dropped as listed: for beams and finished sentences.

        Shapes:
            rows: [new batch] indices into the batch.
        What does not change is not copied: keys and values of the sources while every row stays with its source, and
        those of the tokens while every row stays in place.
        """
        same_rows = torch.equal(rows, torch.arange(self.batch_size, device=rows.device))
        sources = self.sources.index_select(0, rows.to(self.sources.device))
        same_sources = torch.equal(sources, self.sources)
        rows = rows.to(self.tokens.device)

        def pick(tensor: Tensor, *, unchanged: bool) -> Tensor:
            # A copy is contiguous, and the layout decides the last bits of a product: views are always copied.
            return tensor if unchanged and tensor.is_contiguous() else tensor.index_select(0, rows)

        def pick_layers(layers: tuple[KeyValue, ...], *, unchanged: bool) -> tuple[KeyValue, ...]:
            return tuple((pick(key, unchanged=unchanged), pick(value, unchanged=unchanged)) for key, value in layers)

        return DecodeState(
            self_kv=pick_layers(self.self_kv, unchanged=same_rows),
            cross_kv=pick_layers(self.cross_kv, unchanged=same_sources),
            src_mask=None if self.src_mask is None else pick(self.src_mask, unchanged=same_sources),
            tokens=pick(self.tokens, unchanged=same_rows),
            sources=sources,
        )


class Transformer(EmbeddedModel):
    """An encoder-decoder Transformer as in "Attention Is All You Need" (Vaswani et al. 2017)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.positions_src = PositionalEncoding(config)
        self.positions_tgt = PositionalEncoding(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self._add_output()
        self.dropout = config.dropout
        self.embedding_factor = config.embedding_factor or (
            math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        )
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights: Xavier for projections, N(0, d_model^-½) for embeddings with a zero padding row."""
        for name, parameter in self.named_parameters():  # each tied matrix comes once
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.config.d_model**-0.5, generator=generator)
                if not name.startswith("positions"):
                    parameter[PAD].zero_()
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
            else:  # the scale of a norm
                nn.init.ones_(parameter)

    def embed(self, tokens: Tensor, *, side: str, offset: int = 0, record: AttentionRecorder | None = None) -> Tensor:
        """Embedding × √d_model + position, then dropout (Vaswani et al. 2017, §3.4–3.5).

        Shapes:
            tokens: [batch, seq] ids of the "src" or "tgt" side; returns [batch, seq, d_model].
        """
        embedding = self.src_embedding if side == "src" else self.tgt_embedding
        positions = self.positions_src if side == "src" else self.positions_tgt
        looked_up = embedding(tokens)
        scaled = looked_up * self.embedding_factor
        x: Tensor = positions(scaled, offset)
        if record is not None:
            record.note(f"{side}_embedding", looked_up)
            record.note(f"{side}_embedding.scaled", scaled)
            record.note(f"positions_{side}", x)
        return dropout(x, self.dropout) if self.training else x

    def encode(
        self,
        src: Tensor,
        *,
        src_mask: Tensor | None = None,
        fused: bool = False,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> Tensor:
        """Read the source.

        Shapes:
            src: [batch, src] ids, right-padded; src_mask: as masks.padding_mask(src), which is the default.
            returns: memory [batch, src, d_model].
        Raises:
            EditError: an edit names a layer or head that this model does not have.
        """
        if edit is not None:
            edit.check(self.config)
        mask = padding_mask(src) if src_mask is None else src_mask
        x = self.embed(src, side="src", record=record)
        return self.encoder(x, mask=mask, fused=fused, record=record, edit=edit)

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        *,
        src_mask: Tensor,
        causal: bool | None = None,
        tgt_mask: Tensor | None = None,
        fused: bool = False,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> Tensor:
        """Read a whole target at once (teacher forcing).

        Shapes:
            tgt: [batch, tgt] ids, <sos> first, right-padded; memory: [batch, src, d_model];
            src_mask: [batch, 1, 1, src]; tgt_mask: as masks.target_mask(tgt, causal=causal), which is the default.
            returns: hidden [batch, tgt, d_model]; `output(hidden)` are the logits of the token after each row.
        `causal` overrides the configuration: False lets rows see the future.
        """
        if tgt_mask is None:
            tgt_mask = target_mask(tgt, causal=self.config.causal if causal is None else causal)
        hidden, _ = self.decoder(
            self.embed(tgt, side="tgt", record=record),
            self.decoder.project_memory(memory, record=record),
            self_mask=tgt_mask,
            cross_mask=src_mask,
            fused=fused,
            record=record,
            edit=edit,
        )
        return hidden

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        *,
        causal: bool | None = None,
        fused: bool = False,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> Tensor:
        """Logits of the token after each target row: src [batch, src], tgt [batch, tgt] -> [batch, tgt, tgt_vocab]."""
        src_mask = padding_mask(src)
        memory = self.encode(src, src_mask=src_mask, fused=fused, record=record, edit=edit)
        hidden = self.decode(tgt, memory, src_mask=src_mask, causal=causal, fused=fused, record=record, edit=edit)
        return self.logits(hidden, record=record)

    def start(
        self,
        src: Tensor,
        *,
        memory: Tensor | None = None,
        src_mask: Tensor | None = None,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> DecodeState:
        """Read the source and be ready for <sos>.

        Shapes:
            src: [batch, src] ids, right-padded; memory: [batch, src, d_model], if the source is already read;
            src_mask: as masks.padding_mask(src), which is the default.
        """
        src_mask = padding_mask(src) if src_mask is None else src_mask
        if memory is None:
            memory = self.encode(src, src_mask=src_mask, record=record, edit=edit)
        return DecodeState(
            self_kv=(),
            cross_kv=self.decoder.project_memory(memory, record=record),
            # One sentence is the common case: a mask that closes nothing need not be applied at each step.
            src_mask=None if bool(src_mask.all()) else src_mask,
            tokens=src.new_empty(src.size(0), 0),
            sources=torch.arange(src.size(0)),
        )

    def step(
        self,
        tokens: Tensor,
        state: DecodeState,
        *,
        causal: bool | None = None,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> tuple[Tensor, DecodeState]:
        """Read one more token per hypothesis; the given state stays as it was.

        Shapes:
            tokens: [batch] ids; returns logits [batch, tgt_vocab] of the token after it, and the new state.
        A decoder that is not causal has no keys to keep: every row changes with each token, so it reads all again.
        `causal` overrides the configuration, for all steps of a decoding.

        Raises:
            ValueError: a causal step after open ones, which kept no keys.
        """
        read = torch.cat((state.tokens, tokens[:, None].to(state.tokens.device)), dim=1)  # [batch, read + 1]
        causal = self.config.causal if causal is None else causal
        if causal and state.position and not state.self_kv:
            raise ValueError("an open step kept no keys for a causal one to go on from; start again.")
        offset = state.position if causal else 0
        hidden, self_kv = self.decoder(
            self.embed(read[:, offset:], side="tgt", offset=offset, record=record),
            state.cross_kv,
            state.self_kv if causal else (),
            self_mask=None,  # a step's only query is the newest token: everything read so far is its past
            cross_mask=state.src_mask,
            record=record,
            edit=edit,
            offset=offset,
        )
        logits = self.logits(hidden[:, -1], record=record)  # [batch, new, d_model] -> [batch, tgt_vocab]
        return logits, dataclasses.replace(state, self_kv=self_kv if causal else (), tokens=read)


def count_parameters(model: nn.Module) -> int:
    """Numbers that training may change; tied matrices count once."""
    return sum(parameter.numel() for parameter in model.parameters())
