"""Two maps side by side: their difference where there is one, and a sentence on what may be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import LabelledMap, difference, head_map
from explorer.decoding.names import KIND_NAMES
from explorer.locale.text import plural
from model.edits import HeadEdit, HeadEdits, Operation
from model.trace import AttentionTrace
from model.user_error import UserError


class NothingToCompare(UserError):
    """There is no second map; the message says what is missing."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two maps, B minus A where their sizes agree, and a sentence on what the difference means."""

    one: LabelledMap
    other: LabelledMap
    difference: LabelledMap | None
    caption: str


def compare(one: LabelledMap, other: LabelledMap) -> Comparison:
    """Put two maps beside each other on one colour scale.

    Cells are compared by their positions; the caption says if the tokens there, or the sizes, differ.
    """
    top = max(one.scale, other.scale)
    first, second = replace(one, top=top), replace(other, top=top)
    return Comparison(first, second, difference(first, second, "B minus A"), _comparability(one, other))


def _comparability(one: LabelledMap, other: LabelledMap) -> str:
    """What may be compared between two maps, as a sentence."""
    if one.values.shape != other.values.shape:
        sizes = " and ".join(f"{len(shown.rows)} × {len(shown.columns)}" for shown in (one, other))
        return f"The maps differ in size ({sizes}), so there is no difference to draw."
    rows, columns = (
        sum(a != b for a, b in zip(mine, theirs, strict=True))
        for mine, theirs in ((one.rows, other.rows), (one.columns, other.columns))
    )
    if not rows and not columns:
        return "Both maps have the same tokens."
    return (
        f"Cells are compared by position: {rows} of {plural(len(one.rows), 'row')} and {columns} of "
        f"{plural(len(one.columns), 'column')} have other tokens in B than in A."
    )


def compare_rows(trace: AttentionTrace, at: Place, other: int) -> Comparison:
    """The row in view and another row (from 1) of the same head: two steps, or two positions of the source.

    Raises:
        IndexError: there is no such row.
    """
    shown = head_map(attention_maps(trace, at.kind), at.layer, at.head)
    rows = [
        replace(single_row(shown, row), title=f"{letter}: {shown.row_labels[row - 1]}")
        for letter, row in (("A", at.row), ("B", other))
    ]
    return compare(*rows)


def counterpart(trace: AttentionTrace, at: Place, *, model: str, title: str) -> LabelledMap:
    """The head in view in another run, under a title that begins with `title`.

    Where the other model has fewer layers or heads, its last layer or head is taken.

    Raises:
        NothingToCompare: the other model has no attention of this kind.
    """
    maps = attention_maps(trace, at.kind)
    if not maps.weights.size:
        raise NothingToCompare(f"{model} has no {KIND_NAMES[at.kind]}.")
    layers, heads = maps.weights.shape[:2]
    nearest = head_map(maps, min(at.layer, layers), min(at.head, heads))
    return replace(nearest, title=f"{title}. {nearest.title}")


def single_row(shown: LabelledMap, row: int) -> LabelledMap:
    """One row of a map (from 1) as a map of its own, which can be compared with another row.

    Raises:
        IndexError: there is no such row.
    """
    if not 1 <= row <= len(shown.rows):
        raise IndexError(f"This map has {plural(len(shown.rows), 'row')}; there is no row {row}.")
    cut = slice(row - 1, row)
    return replace(
        shown,
        values=shown.values[cut],
        mask=shown.mask[cut],
        rows=shown.rows[cut],
        predicted=shown.predicted[cut],
        first_row=row,
    )


def with_edit(edits: HeadEdits | None, head: Place, operation: Operation) -> HeadEdits:
    """Edits with another one of this head, in place of what was done to it before."""
    others = (
        edit for edit in (edits or HeadEdits()).edits if (edit.kind, edit.layer, edit.head) != (head.kind, *head.index)
    )
    return HeadEdits((*others, HeadEdit(head.kind, *head.index, operation)))
