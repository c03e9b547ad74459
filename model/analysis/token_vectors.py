"""Split the input vectors of the first stack into the scaled embedding and the position of every token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model.positions import PositionalEncoding
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


def first_positions(model: Transformer) -> PositionalEncoding:
    """The positions of the stack that reads the text: the encoder, or the decoder of a model without one."""
    return model.positions_src if model.config.has_encoder else model.positions_tgt


@torch.inference_mode()
def token_vectors(model: Transformer, ids: Sequence[int]) -> TokenVectors:
    """The vectors of source `ids` (with <eos>); without an encoder, of what the decoder reads."""
    embedding = model.src_embedding if model.config.has_encoder else model.tgt_embedding
    embeddings = (embedding(torch.tensor([list(ids)])) * model.embedding_factor)[0]
    positions = first_positions(model).table(len(ids))
    rows = None if positions is None else positions.detach().double().numpy()
    return TokenVectors(embeddings.double().numpy(), rows, model.embedding_factor)
