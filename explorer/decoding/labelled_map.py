"""One map with its labels, mask and scale, as the panels draw, compare and export it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import AttentionMaps
from explorer.decoding.names import AXIS_TITLES, head_title, numbered
from model.trace import VISIBLE

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LabelledMap:
    """Numbers between queries and keys, with their labels.

    Shapes:
        values: [query, key] float32; mask: [query, key] codes as in model.trace; rows, predicted: [query] and
        columns: [key] tokens without their positions; `predicted` is empty where rows predict nothing.
    `title` says kind, layer and head; `unit` what the numbers are; `top` is the end of the colour scale (None: the
    largest number); `signed` maps are differences, on a scale from -top to top. `first_row` is the position of the
    first row: 1, except in a map that was cut out of another.
    """

    title: str
    values: Floats
    mask: NDArray[np.uint8]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_title: str
    column_title: str
    predicted: tuple[str, ...] = ()
    unit: str = "weight"
    top: float | None = 1.0
    signed: bool = False
    first_row: int = 1

    @property
    def row_labels(self) -> tuple[str, ...]:
        """Rows with their positions: "2 je"."""
        return numbered(self.rows, first=self.first_row)

    @property
    def column_labels(self) -> tuple[str, ...]:
        """Columns with their positions from 1."""
        return numbered(self.columns)

    @property
    def scale(self) -> float:
        """The number at the end of the colour scale, greater than 0."""
        if self.top is not None:
            return self.top
        largest = float(np.abs(self.values[self.mask == VISIBLE]).max(initial=0.0))
        return largest or 1.0

    def seen(self) -> NDArray[np.float64]:
        """The values, with NaN where masked, for figures."""
        return np.where(self.mask == VISIBLE, self.values.astype(np.float64), np.nan)


def head_map(maps: AttentionMaps, layer: int, head: int) -> LabelledMap:
    """One head, counted from 1; head 0 is the mean over the heads of the layer.

    Raises:
        IndexError: there is no such layer or head.
    """
    n_layers, n_heads = maps.weights.shape[:2]
    if not (1 <= layer <= n_layers and 0 <= head <= n_heads):
        raise IndexError(f"There is no layer {layer}, head {head} here.")
    weights = maps.weights[layer - 1]
    values = weights[head - 1] if head else weights.mean(axis=0, dtype=np.float64).astype(np.float32)
    return labelled(maps, values, head_title(maps.kind, layer, head))


def labelled(maps: AttentionMaps, values: Floats, title: str, **changes: Any) -> LabelledMap:
    """Other numbers of the same shape [query, key], with the labels and masks of `maps`."""
    row_title, column_title = AXIS_TITLES[maps.kind]
    return LabelledMap(
        title=title,
        values=values,
        mask=maps.mask,
        rows=maps.rows,
        columns=maps.columns,
        row_title=row_title,
        column_title=column_title,
        predicted=maps.predicted,
        **changes,
    )


def difference(one: LabelledMap, other: LabelledMap, title: str) -> LabelledMap | None:
    """`other` minus `one`, cell by cell; None if their sizes differ. A cell masked in either is masked."""
    if one.values.shape != other.values.shape:
        return None
    return replace(
        one,
        title=title,
        values=(other.values - one.values).astype(np.float32),
        mask=np.maximum(one.mask, other.mask),
        unit=f"difference of {one.unit}",
        top=None,
        signed=True,
    )
