"""Verify the rotations of the sinusoidal table in float64 (Vaswani et al. 2017, §3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.positions import rotate, rotations, sinusoidal_table, wavelengths

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RotationCheck:
    """The rotations M_k by frequency, and the difference between the rotated rows and the rows `offset` later.

    Shapes:
        angles: [pair], radians; matrices: [pair, 2, 2], for the column (sin, cos); errors: [pair], the largest absolute
        error of each pair over all positions.
    """

    offset: int
    angles: Floats
    matrices: Floats
    errors: Floats

    @property
    def largest_error(self) -> float:
        """The largest absolute error over all positions and dimensions."""
        return float(self.errors.max())


def check_rotation(length: int, d_model: int, base: float, offset: int) -> RotationCheck:
    """Rotate every row of the table by M_k and compare it with the row `offset` later."""
    table = sinusoidal_table(length, d_model, base)
    matrices = rotations(offset, d_model, base)
    errors = (rotate(table[:-offset], matrices) - table[offset:]).abs().unflatten(-1, (-1, 2)).amax(dim=(0, 2))
    angles = offset * 2 * np.pi / wavelengths(d_model, base).numpy()
    return RotationCheck(offset, angles, matrices.numpy(), errors.numpy())
