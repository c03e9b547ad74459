"""Compare two maps side by side: their difference, if words stand in line, and sentences on what is different."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import (
    LabelledMap,
    difference,
    head_map,
    most_different,
    row_caption,
    row_in_view,
)
from explorer.decoding.names import KIND_NAMES
from explorer.decoding.pair_marks import counterparts, in_line, marked, matched_rows, worth_naming
from explorer.locale.messages import t, translated
from explorer.locale.text import three_decimals
from model.edits import HeadEdit, HeadEdits, Operation
from model.trace import AttentionTrace
from model.user_error import UserError


class NothingToCompare(UserError):
    """There is no second map to compare with; the message says what is missing."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two maps A and B, B minus A if counterparts stand in line, and sentences on what is compared and marked."""

    first: LabelledMap
    second: LabelledMap
    difference: LabelledMap | None
    caption: str


def compare(a: LabelledMap, b: LabelledMap) -> Comparison:
    """Put two maps beside each other, with their difference if counterparts stand in line."""
    minus = difference(a, b, t("B minus A")) if in_line(a, b) else None
    return Comparison(a, b, minus, _comparability(a, b))


def with_marks(comparison: Comparison) -> Comparison:
    """Mark in all maps what differs, and say so in the caption."""
    first, second, words = marked(comparison.first, comparison.second)
    minus = comparison.difference and replace(comparison.difference, marks=first.marks)
    return Comparison(first, second, minus, f"{words} {comparison.caption}".strip())


def _comparability(a: LabelledMap, b: LabelledMap) -> str:
    """Say why two maps cannot be subtracted."""
    if a.values.shape != b.values.shape:
        first, second = (f"{len(each.rows)} × {len(each.columns)}" for each in (a, b))
        return t(
            "The maps differ in size ({first} and {second}), so there is no difference to draw.",
            first=first,
            second=second,
        )
    return "" if in_line(a, b) else t("Words stand in other places, so there is no difference to draw.")


def pair_in_words(comparison: Comparison, row: int) -> str:
    """Name the counterparts that differ most, and what their rows look at; if none differ, what `row` (from 1) does."""
    a, b = comparison.first, comparison.second
    pairs = counterparts(a, b)
    if worth_naming(pairs):
        _, (i, k), (j, m) = pairs[0]
        if minus := comparison.difference:
            query, key = row_in_view(minus, i), minus.column_labels[k]
        else:
            labels = ((row_in_view(a, i), row_in_view(b, j)), (a.column_labels[k], b.column_labels[m]))
            query, key = (" / ".join(dict.fromkeys(pair)) for pair in labels)
        every = len(matched_rows(a, b)) == len(a.rows) == len(b.rows)
        most = most_different(query, key, a.values[i, k], b.values[j, m], every=every)
        first, second = row_caption(a, i, three_decimals), row_caption(b, j, three_decimals)
        return f"{most} {t('In A, {a} In B, {b}', a=first, b=second)}"
    if comparison.difference is not None and pairs and not pairs[0][0]:
        return t("Both maps are equal in every cell.")
    if row > min(len(a.rows), len(b.rows)):
        return ""
    first, second = (row_caption(each, row - 1, three_decimals) for each in (a, b))
    if a.predicted:
        return t("At step {n}: in A, {a} In B, {b}", n=row, a=first, b=second)
    return t("At position {n}: in A, {a} In B, {b}", n=row, a=first, b=second)


def compare_rows(trace: AttentionTrace, at: Place, other: int, *, n_prompt: int = 0) -> tuple[LabelledMap, LabelledMap]:
    """Put the row in view above another one (from 1) of its head: two steps, or two positions; then their difference.

    Raises:
        IndexError: there is no such row.
    """
    map_ = head_map(attention_maps(trace, at.kind, n_prompt=n_prompt), at.layer, at.head)
    a, b = single_row(map_, at.row), single_row(map_, other)
    both = replace(
        map_,
        values=np.concatenate([a.values, b.values]),
        mask=np.concatenate([a.mask, b.mask]),
        rows=(f"A: {a.row_labels[0]}", f"B: {b.row_labels[0]}"),
        predicted=a.predicted + b.predicted,
        first_row=0,
    )
    return both, difference(a, b, t("B minus A"))


def counterpart(trace: AttentionTrace, at: Place, *, model: str, title: str, n_prompt: int = 0) -> LabelledMap:
    """Find the counterpart of the head in view in the trace of another model; `title` is put before its own title.

    If the other model has fewer layers or heads, its last layer or head is taken.

    Raises:
        NothingToCompare: the other model has no attention of this kind.
    """
    maps = attention_maps(trace, at.kind, n_prompt=n_prompt)
    if not maps.weights.size:
        raise NothingToCompare("{model} has no {kind_names}.", model=model, kind_names=translated(KIND_NAMES[at.kind]))
    layers, heads = maps.weights.shape[:2]
    nearest = head_map(maps, min(at.layer, layers), min(at.head, heads))
    return replace(nearest, title=f"{title.removesuffix('.')}. {nearest.title}")


def single_row(map_: LabelledMap, row: int) -> LabelledMap:
    """Cut one row (from 1) out of a map, as a map that can be compared with another row.

    Raises:
        IndexError: there is no such row.
    """
    if not 1 <= row <= len(map_.rows):
        raise IndexError(f"This map has {len(map_.rows)} rows; there is no row {row}.")
    cut = slice(row - 1, row)
    return replace(
        map_,
        values=map_.values[cut],
        mask=map_.mask[cut],
        rows=map_.rows[cut],
        predicted=map_.predicted[cut],
        first_row=row,
    )


def with_edit(edits: HeadEdits | None, head: Place, operation: Operation) -> HeadEdits:
    """Add an edit of this head, replacing any earlier edits of it."""
    others = (
        edit for edit in (edits or HeadEdits()).edits if (edit.kind, edit.layer, edit.head) != (head.kind, *head.index)
    )
    return HeadEdits((*others, HeadEdit(head.kind, *head.index, operation)))
