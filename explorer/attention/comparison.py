"""Two maps side by side: what can be said about their difference, and where there is none to be had."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.attention.labelled_map import LabelledMap, difference


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two maps, B minus A where their sizes agree, and a sentence about what may be read off it."""

    one: LabelledMap
    other: LabelledMap
    difference: LabelledMap | None
    note: str


def compare(one: LabelledMap, other: LabelledMap) -> Comparison:
    """Put two maps beside each other on one colour scale.

    Cells are compared by their positions: where the tokens there differ, or the sizes, the note says so.
    """
    top = max(one.scale, other.scale)
    first, second = replace(one, top=top), replace(other, top=top)
    made = difference(first, second, "B minus A")
    if made is None:
        sizes = " and ".join(f"{len(shown.rows)} × {len(shown.columns)}" for shown in (one, other))
        return Comparison(first, second, None, f"The maps differ in size ({sizes}), so there is no difference to draw.")
    if one.columns != other.columns or one.rows != other.rows:
        rows, columns = (
            sum(a != b for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in ((one.rows, other.rows), (one.columns, other.columns))
        )
        note = (
            f"Cells are compared by position: {rows} of {len(one.rows)} rows and {columns} of {len(one.columns)} "
            f"columns have other tokens in B than in A."
        )
        return Comparison(first, second, made, note)
    return Comparison(first, second, made, "Both maps have the same tokens.")


def single_row(shown: LabelledMap, row: int) -> LabelledMap:
    """One row of a map (from 1) as a map of its own, which can be compared with another row.

    Raises:
        IndexError: there is no such row.
    """
    if not 1 <= row <= len(shown.rows):
        raise IndexError(f"this map has {len(shown.rows)} rows; there is no row {row}.")
    cut = slice(row - 1, row)
    return replace(
        shown,
        values=shown.values[cut],
        mask=shown.mask[cut],
        rows=shown.rows[cut],
        predicted=shown.predicted[cut],
        first_row=row,
    )
