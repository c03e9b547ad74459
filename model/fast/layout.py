"""Layout of weights in memory."""

from __future__ import annotations

from torch import Tensor


def column_major(matrix: Tensor) -> Tensor:
    """Copy a matrix into memory column after column; its shape and values stay the same.

    A product with a single row, as in a decoding step, reads a matrix that is at least twice as high as wide up to
    2.4 × faster in this layout (`python -m tests.benchmarks marian`).
    """
    return matrix.t().contiguous().t()
