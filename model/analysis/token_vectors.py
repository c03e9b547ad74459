"""The input vectors of the encoder, split into the scaled embedding and the position of every token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """Embedding (times √d_model where the model scales it) and position of every source token.

    Shapes:
        embeddings: [token, d_model]; positions: the same, None for a model without positions.
    """

    embeddings: Tensor
    positions: Tensor | None

    @property
    def embedding_lengths(self) -> list[float]:
        """The Euclidean length of each embedding."""
        return [float(length) for length in self.embeddings.norm(dim=-1)]

    @property
    def position_lengths(self) -> list[float]:
        """The Euclidean length of each position; empty without positions."""
        return [] if self.positions is None else [float(length) for length in self.positions.norm(dim=-1)]

    @property
    def position_shares(self) -> list[float]:
        """Length of the position divided by that of the embedding, for each token."""
        pairs = zip(self.position_lengths, self.embedding_lengths, strict=False)
        return [position / max(embedding, 1e-12) for position, embedding in pairs]


@torch.inference_mode()
def token_vectors(model: Transformer, ids: Sequence[int]) -> TokenVectors:
    """The vectors of source `ids` (with <eos>)."""
    embeddings = (model.src_embedding(torch.tensor([list(ids)])) * model.embedding_factor)[0]
    positions = model.positions_src.table(len(ids))
    return TokenVectors(embeddings, None if positions is None else positions.detach())
