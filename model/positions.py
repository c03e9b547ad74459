"""Positional encodings: the sinusoidal table, a learned table, or none."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.config import ModelConfig


def sinusoidal_table(length: int, d_model: int, base: float = 10000.0) -> Tensor:
    """The paper's fixed encoding (Vaswani et al. 2017, §3.5).

    PE(pos, 2i) = sin(pos / base^(2i/d_model)), PE(pos, 2i+1) = cos(the same angle); pos counts from 0.
    Wavelengths run from 2π to base·2π positions.

    Shapes:
        returns: [pos, d_model] float64; cast it after any arithmetic that should stay exact.

    Raises:
        ValueError: d_model is odd.
    """
    if d_model % 2:
        raise ValueError(f"sinusoidal positions come in sine–cosine pairs; d_model={d_model} is odd.")
    position = torch.arange(length, dtype=torch.float64)[:, None]  # [pos, 1]
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # [pair]
    angle = position * torch.exp(-math.log(base) * exponent)  # [pos, pair]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)  # [pos, pair, 2] -> [pos, d_model]


def wavelengths(d_model: int, base: float = 10000.0) -> Tensor:
    """The number of positions in one full turn of each sine–cosine pair: 2π·base^(2i/d_model).

    Shapes:
        returns: [pair] float64, in positions.
    """
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    return 2 * math.pi * torch.exp(math.log(base) * exponent)


def rotations(offset: int, d_model: int, base: float = 10000.0) -> Tensor:
    """M_k of PE(pos + k) = M_k·PE(pos): one rotation per sine–cosine pair, the same at every position (§3.5).

    Shapes:
        returns: [pair, 2, 2] float64, to be applied to the column (sin, cos).
    """
    angle = offset * 2 * math.pi / wavelengths(d_model, base)  # [pair], in radians
    rows = (angle.cos(), angle.sin()), (-angle.sin(), angle.cos())
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def rotate(rows: Tensor, by: Tensor) -> Tensor:
    """Rotate each sine–cosine pair of the encodings.

    Shapes:
        rows: [pos, d_model]; by: [pair, 2, 2]; returns [pos, d_model].
    """
    pairs = rows.unflatten(-1, (-1, 2))  # [pos, pair, 2]
    return torch.einsum("kij,pkj->pki", by, pairs).flatten(-2)


class PositionalEncoding(nn.Module):
    """Adds a row per position to token vectors; `config.positions` selects the table."""

    sinusoidal: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.kind = config.positions
        self.d_model = config.d_model
        self.max_positions = config.max_positions
        if self.kind == "learned":
            self.embedding = nn.Embedding(config.max_positions, config.d_model)
        elif self.kind == "sinusoidal":
            rows = sinusoidal_table(config.max_positions, config.d_model).float()
            self.register_buffer("sinusoidal", rows, persistent=False)

    def table(self, length: int) -> Tensor | None:
        """The first `length` rows, [pos, d_model], or None where there are no positions.

        The sinusoidal table extends beyond `max_positions`; a learned one does not.

        Raises:
            ValueError: a learned table is shorter than `length`.
        """
        if self.kind == "none":
            return None
        if self.kind == "sinusoidal":
            if length <= self.max_positions:
                return self.sinusoidal[:length]
            return sinusoidal_table(length, self.d_model).to(self.sinusoidal)
        if length > self.max_positions:
            raise ValueError(
                f"this model learned {self.max_positions} positions and cannot place token {length}; shorten the text."
            )
        return self.embedding.weight[:length]

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add rows offset … offset + seq.

        Shapes:
            x: [batch, seq, d_model]; returns the same shape.
        """
        rows = self.table(offset + x.size(1))
        return x if rows is None else x + rows[offset:]
