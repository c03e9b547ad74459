"""One map with everything that must stand beside it: what the panels draw, compare and export."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.attention.whole_words import AttentionMaps
from model.config import AttentionKind
from model.trace import FUTURE, VISIBLE

Floats = NDArray[np.float32]
KINDS: dict[AttentionKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Masked decoder self-attention",
    "cross": "Cross-attention",
}
AXES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("source (query)", "source (key)"),
    "decoder": ("decoder reads (query)", "decoder reads (key)"),
    "cross": ("decoder reads (query)", "source (key)"),
}
MASKED = {VISIBLE: "", FUTURE: "future"}  # anything else is padding


@dataclass(frozen=True, eq=False)
class SingleMap:
    """Numbers between queries and keys, labelled.

    Shapes:
        values: [query, key] float32; mask: [query, key] codes as in model.trace; rows, predicted: [query] and
        columns: [key] tokens without their positions; `predicted` is empty where rows predict nothing.
    `title` says kind, layer, head; `unit` what the numbers are; `top` is the end of the colour scale (None: the largest
    number); `signed` maps are differences, on a scale from -top to top. `first_row` is the
    position of the first row, 1 but for a map that was cut out of another.
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
        return tuple(f"{i} {token}" for i, token in enumerate(self.rows, start=self.first_row))

    @property
    def column_labels(self) -> tuple[str, ...]:
        """Columns with their positions from 1."""
        return tuple(f"{i} {token}" for i, token in enumerate(self.columns, start=1))

    @property
    def scale(self) -> float:
        """The number at the end of the colour scale; above 0."""
        if self.top is not None:
            return self.top
        largest = float(np.abs(self.values[self.mask == VISIBLE]).max(initial=0.0))
        return largest or 1.0

    def seen(self) -> NDArray[np.float64]:
        """The values, with NaN where masked, for figures."""
        return np.where(self.mask == VISIBLE, self.values.astype(np.float64), np.nan)


def head_map(maps: AttentionMaps, layer: int, head: int) -> SingleMap:
    """One head, counted from 1; head 0 is the mean over the heads of the layer.

    Raises:
        IndexError: there is no such layer or head.
    """
    n_layers, n_heads = maps.weights.shape[:2]
    if not (1 <= layer <= n_layers and 0 <= head <= n_heads):
        raise IndexError(f"there is no layer {layer}, head {head} here.")
    weights = maps.weights[layer - 1]
    values = weights[head - 1] if head else weights.mean(axis=0, dtype=np.float64).astype(np.float32)
    return labelled(maps, values, head_title(maps.kind, layer, head))


def head_title(kind: AttentionKind, layer: int, head: int) -> str:
    """What a head is called above a map: kind, layer and head from 1."""
    return f"{KINDS[kind]}, layer {layer}, {f'head {head}' if head else 'mean over its heads'}"


def labelled(maps: AttentionMaps, values: Floats, title: str, **changes: Any) -> SingleMap:
    """Other numbers of the same shape [query, key], with the labels and masks of `maps`."""
    row_title, column_title = AXES[maps.kind]
    return SingleMap(
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


def difference(one: SingleMap, other: SingleMap, title: str) -> SingleMap | None:
    """`other` minus `one`, cell by cell; None where they differ in size. A cell masked in either is masked."""
    if one.values.shape != other.values.shape:
        return None
    made = replace(
        one,
        title=title,
        values=(other.values - one.values).astype(np.float32),
        mask=np.maximum(one.mask, other.mask),
        unit=f"difference of {one.unit}",
        top=None,
        signed=True,
    )
    return made


def map_words(shown: SingleMap) -> str:
    """The map in a sentence: its largest number and where it stands, and how many cells are masked."""
    seen = shown.seen()
    if np.isnan(seen).all():
        return "Every cell of this map is masked."
    strength = np.abs(seen) if shown.signed else seen
    row, column = divmod(int(np.nanargmax(strength)), seen.shape[1])
    value = f"{seen[row, column]:+.3f}" if shown.signed else f"{seen[row, column]:.3f}"
    closed = int((shown.mask != VISIBLE).sum())
    cells = f" {closed} of {shown.mask.size} cells are masked." if closed else ""
    if shown.signed and not np.nanmax(strength):
        return f"Both maps are equal in every cell.{cells}"
    kind = "largest difference" if shown.signed else f"largest {shown.unit}"
    return f"The {kind} is {value}, where {shown.row_labels[row]} looks at {shown.column_labels[column]}.{cells}"


def map_table(shown: SingleMap) -> list[dict[str, Any]]:
    """A row a query, a column a key, with the numbers themselves; nothing where masked."""
    seen = shown.seen()
    table = []
    for i, label in enumerate(shown.row_labels):
        row: dict[str, Any] = {"query": label}
        if shown.predicted:
            row["predicts"] = shown.predicted[i]
        row |= {
            column: None if np.isnan(value) else round(float(value), 4)
            for column, value in zip(shown.column_labels, seen[i], strict=True)
        }
        table.append(row)
    return table
