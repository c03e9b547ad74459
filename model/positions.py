"""Positional encodings: tables added to the embeddings, rotary positions (RoPE) and distance biases (ALiBi)."""

from __future__ import annotations

import math
from functools import lru_cache

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


def rotary(x: Tensor, first: int = 0, base: float = 10000.0, *, halves: bool = False) -> Tensor:
    """Rotate each pair of dimensions by its angle at its position (RoPE; Su et al. 2021, "RoFormer", §3.2.2, eq. 15).

    Pair i is rotated by pos / base^(2i/d_head) radians, the angles of the sinusoidal table: as a complex number, it is
    multiplied by e^(i·angle). The product of a rotated query and a rotated key then depends only on their distance.
    A pair is two neighbouring dimensions or, with `halves`, dimension i and i + d_head/2.

    Shapes:
        x: [.., seq, d_head], of the positions `first` … first + seq; returns the same shape.
    """
    length, d_head = x.shape[-2:]
    x_float = x if x.dtype == torch.float64 else x.float()  # there are no bf16 complex numbers
    by_pair = x_float.unflatten(-1, (2, -1)).transpose(-1, -2) if halves else x_float.unflatten(-1, (-1, 2))
    pairs = torch.view_as_complex(by_pair.contiguous())  # [.., pos, pair]
    rotation = rotary_table(first + length, d_head, pairs.dtype, x.device, base, halves)[first : first + length]
    rotated = torch.view_as_real(pairs * rotation)
    return (rotated.transpose(-1, -2) if halves else rotated).flatten(-2).type_as(x)


def rotary_table(
    length: int, d_head: int, dtype: torch.dtype, device: torch.device, base: float = 10000.0, single: bool = False
) -> Tensor:
    """The rotations of at least `length` positions, [pos, pair], as complex numbers of `dtype`; each is built once.

    `single` computes their angles in float32 and in the order of Llama's training.
    """
    return _rotary_table(max(64, 1 << (length - 1).bit_length()), d_head, dtype, device, base, single)


@lru_cache(maxsize=16)
def _rotary_table(
    length: int, d_head: int, dtype: torch.dtype, device: torch.device, base: float, single: bool
) -> Tensor:
    with torch.inference_mode(False):  # the table may serve training later
        if single:
            angles = torch.arange(length).float()[:, None] * (1 / base ** (torch.arange(0, d_head, 2).float() / d_head))
            return torch.complex(angles.cos(), angles.sin()).to(device, dtype)
        sines = sinusoidal_table(length, d_head, base).unflatten(-1, (-1, 2))  # [pos, pair, (sin, cos)]
        return torch.complex(sines[..., 1], sines[..., 0]).to(device, dtype)


def alibi_slopes(n_heads: int) -> Tensor:
    """The amount that each head subtracts from a score per position of distance: 2^(-8h/n) for head h of n, from 1.

    Source: ALiBi (Press et al. 2022, "Train Short, Test Long", §3). The paper uses this series if n is a power of two;
    here it is used for any n.

    Shapes:
        returns: [head] float64.
    """
    return 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)


@lru_cache(maxsize=64)
def alibi_bias(n_heads: int, n_queries: int, n_keys: int) -> Tensor:
    """The bias that ALiBi adds to the scores: minus slope times distance, in both directions (§3, eq. 1).

    Shapes:
        returns: [head, query, key] float64; the queries are the last of the keys' positions.
    """
    with torch.inference_mode(False):  # the bias may serve training later
        keys = torch.arange(n_keys, dtype=torch.float64)
        distance = (keys[n_keys - n_queries :, None] - keys).abs()  # [query, key]
        return -alibi_slopes(n_heads)[:, None, None] * distance


class PositionalEncoding(nn.Module):
    """Adds a row per position to token vectors; `config.positions` selects the table (rope and alibi have none)."""

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
        """The first `length` rows, [pos, d_model], or None if nothing is added.

        The sinusoidal table extends beyond `max_positions`; a learned one does not.

        Raises:
            ValueError: a learned table is shorter than `length`.
        """
        if self.kind not in ("sinusoidal", "learned"):
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
