"""The decoder's state between two steps, as an immutable value: a step makes a new state, and old ones stay valid."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.attention import KeyValue


class ReadTokens:
    """What every state of a decoder has: tokens [batch, read], the ids read so far."""

    tokens: Tensor

    @property
    def position(self) -> int:
        """Number of tokens read, which is the position of the next one."""
        return self.tokens.size(1)

    @property
    def batch_size(self) -> int:
        """Number of hypotheses that are decoded in parallel."""
        return self.tokens.size(0)


@dataclass(frozen=True)
class DecodeState(ReadTokens):
    """A Transformer's state between two steps.

    Shapes:
        self_kv: per layer, keys and values of the tokens read so far, two [batch, head, read, d_head]; empty for a
            decoder that is not causal, which recomputes them at each step.
        cross_kv: per layer, keys and values of the source, projected once, two [batch, head, src, d_head].
        src_mask: [batch, 1, 1, src] bool, or None where no source is padded. tokens: [batch, read] ids read so far.
        sources: [batch], on the CPU: which of the sources given to `start` each hypothesis translates.
    causal: whether a row sees only itself and earlier ones.
    """

    self_kv: tuple[KeyValue, ...]
    cross_kv: tuple[KeyValue, ...]
    src_mask: Tensor | None
    tokens: Tensor
    sources: Tensor
    causal: bool

    def after(self, tokens: Tensor, self_kv: tuple[KeyValue, ...]) -> DecodeState:
        """The state once all of `tokens` are read: [batch, read] ids, with their keys and values as in `self_kv`."""
        return DecodeState(self_kv, self.cross_kv, self.src_mask, tokens, self.sources, self.causal)

    def select(self, rows: Tensor) -> DecodeState:
        """The state of the given batch rows, repeated or dropped as listed: for beams and finished sentences.

        Shapes:
            rows: [new batch] indices into the batch.
        Unchanged tensors are not copied: keys and values of the sources if every row keeps its source, and those of
        the tokens if every row stays in place.
        """
        same_rows = torch.equal(rows, torch.arange(self.batch_size, device=rows.device))
        sources = self.sources.index_select(0, rows.to(self.sources.device))
        same_sources = torch.equal(sources, self.sources)
        rows = rows.to(self.tokens.device)

        def pick(tensor: Tensor, *, unchanged: bool) -> Tensor:
            # The memory layout affects the last bits of a matmul, and copies are contiguous: always copy views.
            return tensor if unchanged and tensor.is_contiguous() else tensor.index_select(0, rows)

        def pick_layers(layers: tuple[KeyValue, ...], *, unchanged: bool) -> tuple[KeyValue, ...]:
            return tuple((pick(key, unchanged=unchanged), pick(value, unchanged=unchanged)) for key, value in layers)

        return DecodeState(
            self_kv=pick_layers(self.self_kv, unchanged=same_rows),
            cross_kv=pick_layers(self.cross_kv, unchanged=same_sources),
            src_mask=None if self.src_mask is None else pick(self.src_mask, unchanged=same_sources),
            tokens=pick(self.tokens, unchanged=same_rows),
            sources=sources,
            causal=self.causal,
        )
