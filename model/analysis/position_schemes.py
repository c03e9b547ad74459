"""Measure which desired properties positional encodings have: the paper's and its alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from model.positions import sinusoidal_table
from model.wording import t

SAME = 1e-6
"""Encodings closer than this count as equal; a linear map with a smaller relative error counts as exact."""

FIT_WIDTH, FIT_LENGTH, FIT_OFFSET = 16, 256, 5
"""Width, positions and offset for fitting a linear map: in float64, the fit takes a millisecond at this size."""

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
Rows = Callable[[int, int], Tensor]
"""(length, d_model) -> [pos, d_model] float64; raises ValueError if the scheme has no such table."""


def integer_table(length: int, d_model: int) -> Tensor:
    """The position itself in every dimension: [pos, d_model] float64."""
    return torch.arange(length, dtype=torch.float64)[:, None].expand(length, d_model).clone()


def normalised_table(length: int, d_model: int) -> Tensor:
    """The position scaled to the range from 0 to 1, in every dimension: [pos, d_model] float64."""
    return integer_table(length, d_model) / max(1, length - 1)


def binary_table(length: int, d_model: int) -> Tensor:
    """The position in binary, least significant bit first, with as many bits as fit: [pos, d_model] float64."""
    bits = min(d_model, 62)
    digits = (torch.arange(length)[:, None] >> torch.arange(bits)) & 1
    return torch.nn.functional.pad(digits.double(), (0, d_model - bits))


def no_table(length: int, d_model: int) -> Tensor:
    """No encoding: zeros [pos, d_model] float64."""
    return torch.zeros(length, d_model, dtype=torch.float64)


def sinusoidal_rows(base: float) -> Rows:
    """The paper's table with this base."""
    return lambda length, d_model: sinusoidal_table(length, d_model, base)


def learned_rows(table: Tensor) -> Rows:
    """A learned table [pos, d_model]; it has only the trained positions and width."""

    def rows(length: int, d_model: int) -> Tensor:
        if length > table.size(0) or d_model != table.size(1):
            raise ValueError(f"learned for {table.size(0)} positions of {table.size(1)} numbers, and for nothing else.")
        return table[:length].double()

    return rows


@dataclass(frozen=True)
class Wish:
    """Whether a scheme has a desired property, with the measurement as text."""

    holds: bool
    measurement: str


WISHES = ("unique", "linear in the offset", "extends to unseen lengths", "deterministic", "any d_model", "bounded")


def wishes(rows: Rows, length: int, d_model: int, *, trained: bool = False) -> dict[str, Wish]:
    """Measure each property in `WISHES` over `length` positions; a `trained` table depends on data and a seed.

    Raises:
        ValueError: the scheme has no table of this length and width.
    """
    table = rows(length, d_model)
    verdicts = (
        _unique(table),
        _linear(rows, table, trained),
        _extends(rows, table),
        Wish(not trained, t("training decides") if trained else t("a formula")),
        _any_width(rows, table),
        _bounded(rows, table),
    )
    return dict(zip(WISHES, verdicts, strict=True))


def nearest_pair(table: Tensor) -> float:
    """The smallest Euclidean distance between two rows of [pos, d_model]."""
    if table.size(0) < 2:
        return float("inf")
    return float(torch.pdist(table).min())


def linear_miss(table: Tensor, offset: int, *, constant: bool = False) -> float:
    """The error of the best linear map from PE(p) to PE(p + offset) at positions that it was not fitted to.

    The map is fitted on every other position and tested on the rest; the largest error is divided by the largest entry.
    With a `constant`, the map may add a vector (it is then affine, not linear).

    Shapes:
        table: [pos, d_model] float64.
    """
    rows, shifted = table[:-offset], table[offset:]
    if constant:
        rows = torch.cat([rows, torch.ones_like(rows[:, :1])], dim=1)
    # Singular values far below the largest are rounding noise in the table, not directions to fit.
    inverse = torch.linalg.pinv(rows[::2], rtol=1e-10)
    error = (rows[1::2] @ (inverse @ shifted[::2]) - shifted[1::2]).abs().max()
    return float(error / table.abs().max().clamp_min(1e-12))


def _unique(table: Tensor) -> Wish:
    distance = nearest_pair(table)
    return Wish(distance > SAME, t("{distance:.2g} apart", distance=distance))


def _linear(rows: Rows, table: Tensor, trained: bool) -> Wish:
    fitted = table if trained else rows(FIT_LENGTH, FIT_WIDTH)
    offset = min(FIT_OFFSET, max(1, fitted.size(0) // 4))
    miss = linear_miss(fitted, offset)
    if miss >= SAME > linear_miss(fitted, offset, constant=True):
        return Wish(False, t("affine: a constant is added"))
    percent = 100 * miss
    return Wish(
        miss < SAME,
        t("largest error {percent:.0f} % of the largest entry", percent=percent)
        if miss >= 0.01
        else t("largest error {percent:.1g} % of the largest entry", percent=percent),
    )


def _extends(rows: Rows, table: Tensor) -> Wish:
    length, d_model = table.shape
    try:
        longer = rows(2 * length, d_model)
    except ValueError:
        return Wish(False, t("no row after {length}", length=length))
    moved = float((longer[:length] - table).abs().max())
    return Wish(moved < SAME, t("old rows stay") if moved < SAME else t("old rows move by {moved:.2g}", moved=moved))


def _any_width(rows: Rows, table: Tensor) -> Wish:
    length, d_model = table.shape
    unique = nearest_pair(table) > SAME
    for width in WIDTHS:
        try:
            other = rows(length, width)
        except ValueError:
            return Wish(False, t("only {width}", width=d_model))
        if unique and nearest_pair(other) <= SAME:
            return Wish(False, t("repeats at {width}", width=width))
    return Wish(True, t("{first} to {last}", first=WIDTHS[0], last=WIDTHS[-1]))


def _bounded(rows: Rows, table: Tensor) -> Wish:
    length, d_model = table.shape
    largest = float(table.abs().max())
    try:
        largest_far = float(rows(10 * length, d_model).abs().max())
    except ValueError:
        return Wish(True, f"{largest:.2g}")
    return Wish(largest_far <= max(largest, 1.0) + SAME, f"{largest_far:.3g} at 10 ×")
