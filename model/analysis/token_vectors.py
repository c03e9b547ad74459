"""Split the encoder's input vectors into the scaled embedding and the position of every token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model.transformer import Transformer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """Embedding (times `factor`, usually √d_model) and position of every source token.

    Shapes:
        embeddings: [token, d_model]; positions: the same, None for a model without positions.
    """

    embeddings: Floats
    positions: Floats | None
    factor: float

    @property
    def embedding_lengths(self) -> list[float]:
        """The Euclidean length of each embedding."""
        return [float(length) for length in np.linalg.norm(self.embeddings, axis=-1)]

    @property
    def position_lengths(self) -> list[float]:
        """The Euclidean length of each position; empty without positions."""
        return [] if self.positions is None else [float(length) for length in np.linalg.norm(self.positions, axis=-1)]

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
    rows = None if positions is None else positions.detach().double().numpy()
    return TokenVectors(embeddings.double().numpy(), rows, model.embedding_factor)
