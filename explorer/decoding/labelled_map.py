"""One map with its labels, mask and scale; its caption and its table, computed from its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import NO_PIECES, AttentionMaps, Continued, effective_keys
from explorer.decoding.coordinates import Place
from explorer.decoding.names import AXIS_TITLES, head_title, numbered
from explorer.locale.messages import message, t, translated
from explorer.locale.scripts import is_leftwards, places
from explorer.locale.text import fixed, listed, quoted, weight_percent
from model.config import AttentionKind
from model.trace import FUTURE, PADDING, VISIBLE, Codes

Floats = NDArray[np.float32]
WEIGHT = message("weight")  # the unit of a map, if no other is given
SCORE = message("score")  # the unit of maps of scores before softmax
SHARE = message("share")  # that of maps of what keys add to a row, or what it lacks without them
_DIFFERENCE = "difference of "  # before the unit of a map that is the difference of two others
SIGN = "≠"  # before the label of a token that a map beside this one does not have there
_NOISE = 0.05  # difference of two weights below which a cell has neither colour nor number


Twins = tuple[list[int], list[int]]
Positions = tuple[tuple[int, int], ...]
"""Of the rows or columns of a difference: in A, and in B."""


@dataclass(frozen=True)
class PairMarks:
    """Rows, what rows predict, and columns (from 0) whose token differs, and cells (row, column) whose weight does.

    `twins`: for rows and columns, what has the same number in a map beside this one is a counterpart; -1 has none.
    """

    rows: frozenset[int] = frozenset()
    ends: frozenset[int] = frozenset()
    columns: frozenset[int] = frozenset()
    cells: tuple[tuple[int, int], ...] = ()
    twins: Twins = ([], [])


@dataclass(frozen=True, eq=False)
class LabelledMap:
    """Numbers between queries and keys, with their labels.

    Shapes:
        values: [query, key] float32; mask: [query, key] codes as in model.trace; rows, predicted: [query] and
        columns: [key] tokens without their positions; `predicted` is empty where rows predict nothing.
    `title` names kind, layer and head; `unit` names the quantity, in English as the titles of rows and columns do;
    `top` is the end of the colour scale (None: the largest number); `signed` maps are differences or
    scores, on a scale from -top to top. `first_row` is the position of the first row: 1, except in a map that was cut
    out of another; 0 if each row's name says its own. `first_column` is 1, or 0 if columns have no positions. `marks`
    are what differs from a map beside it. The columns of a `leftwards` map are words that are written from right to
    left; the reader may have chosen another `direction`. `compared` has both rows, each as a map, of which this map is
    the difference. `counted` are the cells, [query, key], that the scale covers and among which captions name the
    largest, before the sentence `note` on them; without it, all cells count. The last rows are `padding`. `positions`
    are those of rows and of columns (from 1) in both maps of which this one is the difference. `closing`
    are the codes of cells that a later mask closes. `continued` are the rows, what they predict, and the columns that
    continue the word of the token before.
    """

    title: str
    values: Floats
    mask: NDArray[np.uint8]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_title: str
    column_title: str
    predicted: tuple[str, ...] = ()
    unit: str = WEIGHT
    top: float | None = 1.0
    signed: bool = False
    first_row: int = 1
    first_column: int = 1
    marks: PairMarks = PairMarks()
    leftwards: bool = False
    direction: str = ""
    compared: tuple[LabelledMap, LabelledMap] | None = None
    counted: NDArray[np.bool_] | None = None
    note: str = ""
    padding: int = 0
    closing: Codes | None = None
    continued: Continued = NO_PIECES
    positions: tuple[Positions, Positions] | None = None

    @property
    def quantity(self) -> str:
        """What the numbers are: "weight", "difference of weight"."""
        plain_unit = self.unit.removeprefix(_DIFFERENCE)
        unit = translated(plain_unit)
        return unit if plain_unit == self.unit else t("difference of {unit}", unit=unit)

    @property
    def row_labels(self) -> tuple[str, ...]:
        """Rows with their positions: "2 je"."""
        if self.positions:
            return _at(self.positions[0], self.rows)
        return numbered(self.rows, first=self.first_row) if self.first_row else self.rows

    @property
    def predicted_labels(self) -> tuple[str, ...]:
        """What rows predict, with its position: a row predicts the token that the next row reads; "" if nothing."""
        if not self.first_row:
            return self.predicted
        labels = numbered(self.predicted, first=self.first_row + 1)
        if self.positions:
            labels = _at([(i + 1, j + 1) for i, j in self.positions[0]], self.predicted)
        return tuple(label if token else "" for label, token in zip(labels, self.predicted, strict=True))

    @property
    def column_labels(self) -> tuple[str, ...]:
        """Columns with their positions from 1: "2 je"."""
        if self.positions:
            return _at(self.positions[1], self.columns)
        return numbered(self.columns) if self.first_column else self.columns

    @property
    def marked_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of rows and columns, with a sign before those whose token differs in a map beside this one."""
        return (_signed(self.row_labels, self.marks.rows), _signed(self.column_labels, self.marks.columns))

    @property
    def marked_ends(self) -> tuple[str, ...]:
        """What rows predict, with a sign before a token that a map beside this one does not predict there."""
        return _signed(self.predicted, self.marks.ends)

    @property
    def places(self) -> list[int]:
        """The place of each column from the left; empty if they are in order."""
        return places(self.columns, self.leftwards, self.direction)

    @property
    def least(self) -> float:
        """The number, by its size, from which a cell has its number written."""
        return _NOISE if self.unit.startswith(_DIFFERENCE) else 0.0

    @property
    def scale(self) -> float:
        """The number at the end of the colour scale, greater than 0."""
        if self.top is not None:
            return self.top
        counted = self.mask == VISIBLE if self.counted is None else self.counted & (self.mask == VISIBLE)
        return float(np.abs(self.values[counted]).max(initial=0.0)) or 1.0

    def seen(self) -> NDArray[np.float64]:
        """The values, with NaN where masked, for figures."""
        return np.where(self.mask == VISIBLE, self.values.astype(np.float64), np.nan)


def _at(positions: Sequence[tuple[int, int]], tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens with their positions, with two if these differ in A and B: "6/10 den"."""
    return tuple(
        f"{i} {token}" if i == j else f"{i}/{j} {token}" for (i, j), token in zip(positions, tokens, strict=True)
    )


def _signed(labels: tuple[str, ...], marked: frozenset[int]) -> tuple[str, ...]:
    return tuple(f"{SIGN} {label}" if at in marked else label for at, label in enumerate(labels))


def head_map(maps: AttentionMaps, layer: int, head: int) -> LabelledMap:
    """Select one head, counted from 1; head 0 is the mean over the heads of the layer.

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
    """Label other values of the same shape [query, key] with the labels and mask of `maps`."""
    changes = {"predicted": maps.predicted, "leftwards": maps.leftwards, "continued": maps.continued} | changes
    return token_map(maps.kind, values, maps.rows, maps.columns, title, maps.mask, **changes)


def token_map(
    kind: AttentionKind,
    values: Floats,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    title: str,
    mask: Codes | None = None,
    **changes: Any,
) -> LabelledMap:
    """Label values [query, key] between tokens, with the axis titles of `kind`; without `mask`, all are visible."""
    row_title, column_title = AXIS_TITLES[kind]
    codes = np.full(values.shape, VISIBLE, dtype=np.uint8) if mask is None else mask
    changes = {"leftwards": is_leftwards(columns)} | changes
    return LabelledMap(title, values, codes, rows, columns, row_title, column_title, **changes)


_LEAST_TOP = 0.25  # end of the scale of differences: a smaller largest difference stays pale


def difference(a: LabelledMap, b: LabelledMap, title: str) -> LabelledMap:
    """`b` minus `a`, of one size, cell by cell. A cell masked in either is masked.

    Where labels differ, both are given: "red / blue".
    """
    aligned = a.first_row == b.first_row
    values = (b.values - a.values).astype(np.float32)
    largest = float(np.abs(values).max(initial=0.0, where=np.maximum(a.mask, b.mask) == VISIBLE))
    return replace(
        a,
        title=title,
        rows=_both(a.rows, b.rows) if aligned else ("B − A",),
        columns=_both(a.columns, b.columns),
        predicted=_both(a.predicted, b.predicted) if aligned else (),
        first_row=a.first_row if aligned else 0,
        compared=(a, b),
        values=values,
        mask=np.maximum(a.mask, b.mask),
        unit=f"{_DIFFERENCE}{a.unit}",
        top=max(_LEAST_TOP, math.ceil(round(20 * largest, 2)) / 20),
        signed=True,
    )


def _both(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Each name, followed by the one at its place in `others` if that differs."""
    if not names or not others:
        return ()
    return tuple(name if name == other else f"{name} / {other}" for name, other in zip(names, others, strict=True))


def head_caption(weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], *, causal: bool) -> str:
    """Describe a head in a sentence: its sharpest row, and how many tokens a row looks at on average.

    Shapes: weights [query, key]. `causal` leaves out the first row, which can see one token only.
    """
    first = 1 if causal and len(rows) > 1 else 0
    query = first + int(weights[first:].max(axis=-1).argmax())
    key = int(weights[query].argmax())
    tokens = float(effective_keys(weights[first:]).mean())
    reads, looked_at = quoted(numbered(rows)[query]), quoted(numbered(columns)[key])
    return t(
        "Its sharpest row is {query}, which looks at {key} ({weight}); on average a row is as spread out as equal "
        "weights on {mean} of {n} token (by their entropy).",
        "Its sharpest row is {query}, which looks at {key} ({weight}); on average a row is as spread out as equal "
        "weights on {mean} of {n:,} tokens (by their entropy).",
        query=reads,
        key=looked_at,
        weight=weight_percent(float(weights[query, key])),
        mean=fixed(tokens, 1),
        n=len(columns),
    )


def map_caption(map_: LabelledMap, *, counts: bool = True) -> str:
    """Describe a map in sentences: its largest number and its cell, and with `counts` how many cells are masked."""
    seen = map_.seen() if map_.counted is None else np.where(map_.counted, map_.seen(), np.nan)
    if np.isnan(seen).all():
        return t("Every cell of this map is masked.")
    strength = np.abs(seen)
    several = (~np.isnan(seen)).sum(axis=1) > 1
    chosen = several.any() and not several.all() and not map_.signed and map_.unit != SCORE
    if chosen:
        strength[~several] = np.nan  # a row with one open cell has no choice
    row, column = divmod(int(np.nanargmax(strength)), seen.shape[1])
    largest = _largest(map_, row, column, chosen=bool(chosen)) if not map_.signed or np.nanmax(strength) else ""
    sentences = [largest or t("Both maps are equal in every cell."), *filter(None, [map_.note])]
    if counts and (map_.mask != VISIBLE).any():
        sentences.append(closed_cells(map_.mask))
    return " ".join(sentences)


def _largest(map_: LabelledMap, row: int, column: int, *, chosen: bool) -> str:
    """Name the number furthest from 0, and its cell; `chosen`: rows that see one key alone were left out."""
    number = float(map_.seen()[row, column])
    query, key = quoted(map_.row_labels[row]), quoted(map_.column_labels[column])
    value = fixed(number, 3, signed=map_.compared is not None)
    if map_.unit == SCORE:
        return t(
            "The score furthest from 0 is {value}, of query {query} and key {key}.", value=value, query=query, key=key
        )
    if map_.compared:
        one, other = map_.compared
        if one.first_row != other.first_row:
            return _gain_and_loss(one, other)
    unit = map_.quantity
    if map_.unit == SHARE:  # of an effect: nothing is looked at
        return t(
            "The largest {unit} is {value}, of {key} in row {query}.", unit=unit, value=value, query=query, key=key
        )
    if map_.unit == WEIGHT:
        if chosen:
            return t(
                "Where a row sees several keys, the largest weight is {value}: {query} looks at {key}.",
                value=value,
                query=query,
                key=key,
            )
        return t("The largest weight is {value}, where {query} looks at {key}.", value=value, query=query, key=key)
    if chosen:
        return t(
            "Where a row sees several keys, the largest {unit} is {value}: {query} looks at {key}.",
            unit=unit,
            value=value,
            query=query,
            key=key,
        )
    return t(
        "The largest {unit} is {value}, where {query} looks at {key}.", unit=unit, value=value, query=query, key=key
    )


def _gain_and_loss(one: LabelledMap, other: LabelledMap) -> str:
    """Name the keys to which row B gives most less and most more weight than row A, as the cells say it."""
    row = np.nan_to_num(np.subtract(*(np.round(each.seen()[0], 2) for each in (other, one))))
    a, b = (quoted(each.row_labels[0]) for each in (one, other))
    sentences = []
    for at in sorted({int(row.argmin()), int(row.argmax())}, key=lambda at: -abs(row[at])):
        key, by = quoted(one.column_labels[at]), fixed(abs(float(row[at])), 2)
        if row[at] < 0:
            less = t("Row {b} gives {key} {value} less weight than row {a} does.", a=a, b=b, key=key, value=by)
            sentences.append(less)
        elif row[at] > 0:
            more = t("Row {b} gives {key} {value} more weight than row {a} does.", a=a, b=b, key=key, value=by)
            sentences.append(more)
    return " ".join(sentences)


def closed_cells(codes: Codes) -> str:
    """Count the cells [query, key] that are open, and the closed ones by reason, in a sentence."""
    future, padding = codes == FUTURE, codes == PADDING
    n_future, n_padding = int(future.sum()), int(padding.sum())
    n_open = codes.size - n_future - n_padding
    reasons = []
    if n_future:
        reasons.append(t("{n:,} in the future ╱", n=n_future))
    if n_padding:
        both = int(np.triu(padding, k=1).sum()) if n_future else 0  # a cell with both reasons counts as padding
        reasons.append(
            t("{n:,} padding ╳ ({both:,} of them in the future, too)", n=n_padding, both=both)
            if both
            else t("{n:,} padding ╳", n=n_padding)
        )
    if not reasons:
        return t("The only cell is open.", "All {n:,} cells are open.", n=codes.size)
    return t("{open:,} of {n:,} cells are open; closed: {reasons}.", open=n_open, n=codes.size, reasons=listed(reasons))


def summary_caption(maps: AttentionMaps, place: Place) -> str:
    """Summarise a head by two numbers: how many keys it looks at, and the share of its role or else its largest one."""
    at = place.index
    effective = float(maps.effective[at])
    keys = t("no choice") if np.isnan(effective) else t("{mean:.1f} keys", mean=effective)
    shares = {name: float(share[at]) for name, share in maps.shares.items()}
    defined_shares = {name: share for name, share in shares.items() if not np.isnan(share)}
    if not defined_shares:
        return keys
    role = maps.role(*at)
    name = role if role in defined_shares else max(defined_shares, key=defined_shares.__getitem__)
    return t(
        "{keys}, {pattern} {share}", keys=keys, pattern=translated(name), share=weight_percent(defined_shares[name])
    )


def row_in_view(map_: LabelledMap, row: int) -> str:
    """A row (from 0), or the last one where the map has fewer, by what it reads and predicts: "5 spielen → im"."""
    at = min(row, len(map_.rows) - 1)
    predicted = map_.predicted[at] if map_.predicted else ""
    return f"{map_.row_labels[at]} → {predicted}" if predicted else map_.row_labels[at]


NAMED_FROM = 0.045
"""The weight from which a second or third key that a row looks at is named: 5 %, rounded, as in js/weights.js."""


def row_caption(map_: LabelledMap, row: int, weight: Callable[[float], str] = weight_percent) -> str:
    """Describe one row (from 0) in a sentence: the keys that it looks at most, at most three, and their weights."""
    query, values = quoted(row_in_view(map_, row)), map_.seen()[min(row, len(map_.rows) - 1)]
    order = [
        int(key) for key in np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")[:3] if values[int(key)] > 0
    ]
    if not order:
        return t("{query} can see nothing.", query=query)
    order = [key for key in order if key == order[0] or values[key] >= NAMED_FROM]
    keys = ", ".join(f"{quoted(map_.column_labels[key])} ({weight(float(values[key]))})" for key in order)
    return t("{query} looks at {keys}.", query=query, keys=keys)


MAX_ROWS = 200


def head_table(
    weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], predicted: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The two keys with the largest weights in each row of one head; weights in percent."""
    table = []
    for query, token in enumerate(rows[:MAX_ROWS]):
        order = np.argsort(-weights[query], kind="stable")[:2]
        row: dict[str, Any] = {t("query"): f"{query + 1} {token}"}
        if predicted:
            row[t("predicts")] = predicted[query]
        names = (t("looks most at"), t("looks most at (%)")), (t("and then at"), t("and then at (%)"))
        for (name, share), key in zip(names, order, strict=False):
            row[name] = f"{key + 1} {columns[key]}"
            row[share] = round(100 * float(weights[query, key]), 1)
        table.append(row)
    return table


def map_table(map_: LabelledMap) -> list[dict[str, Any]]:
    """One table row per query and one column per key, with the numbers; empty where masked."""
    seen = map_.seen()
    table = []
    for i, label in enumerate(map_.row_labels):
        row: dict[str, Any] = {t("query"): label}
        if map_.predicted:
            row[t("predicts")] = map_.predicted[i]
        row |= {
            column: None if np.isnan(value) else round(float(value), 4)
            for column, value in zip(map_.column_labels, seen[i], strict=True)
        }
        table.append(row)
    return table
