"""What a map of attention shows, in a sentence computed from its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.entropy import effective_keys
from explorer.decoding.head_summary import HeadSummary
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.names import numbered
from explorer.locale.text import fixed, plural, quoted, weight_percent
from model.trace import VISIBLE


def head_caption(weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], *, causal: bool) -> str:
    """One head in a sentence: its sharpest row, and how many tokens a row looks at on average.

    Shapes: weights [query, key]. `causal` leaves out the first row, which can see one token only.
    """
    first = 1 if causal and len(rows) > 1 else 0
    query = first + int(weights[first:].max(axis=-1).argmax())
    key = int(weights[query].argmax())
    tokens = float(effective_keys(weights[first:]).mean())
    reads, looked_at = quoted(numbered(rows)[query]), quoted(numbered(columns)[key])
    return (
        f"Its sharpest row is {reads}, which looks at {looked_at} ({weight_percent(float(weights[query, key]))}); on "
        f"average a row looks at {fixed(tokens, 1)} of {plural(len(columns), 'token')}."
    )


def map_caption(shown: LabelledMap) -> str:
    """A map in a sentence: its largest number and where it stands, and how many cells are masked."""
    seen = shown.seen()
    if np.isnan(seen).all():
        return "Every cell of this map is masked."
    strength = np.abs(seen) if shown.signed else seen
    row, column = divmod(int(np.nanargmax(strength)), seen.shape[1])
    closed = int((shown.mask != VISIBLE).sum())
    cells = f" {closed} of {plural(shown.mask.size, 'cell')} are masked." if closed else ""
    if shown.signed and not np.nanmax(strength):
        return f"Both maps are equal in every cell.{cells}"
    largest = "largest difference" if shown.signed else f"largest {shown.unit}"
    value = fixed(float(seen[row, column]), 3, signed=shown.signed)
    query, key = quoted(shown.row_labels[row]), quoted(shown.column_labels[column])
    return f"The {largest} is {value}, where {query} looks at {key}.{cells}"


def summary_caption(summary: HeadSummary, place: Place) -> str:
    """A head's two most telling numbers: how many keys it looks at, and its favourite or else largest relation."""
    at = place.index
    effective = float(summary.effective[at])
    keys = "no choice" if np.isnan(effective) else f"{effective:.1f} keys"
    shares = {name: float(share[at]) for name, share in summary.shares.items()}
    known = {name: share for name, share in shares.items() if not np.isnan(share)}
    if not known:
        return keys
    role = summary.role(*at)
    name = role if role in known else max(known, key=known.__getitem__)
    return f"{keys}, {name} {weight_percent(known[name])}"


def row_in_view(one: LabelledMap, row: int) -> str:
    """The label of a row (from 0), or of the last one where the map has fewer."""
    return one.row_labels[min(row, len(one.rows) - 1)]


def row_caption(one: LabelledMap, row: int) -> str:
    """One row (from 0) in a sentence: the three keys that it looks at most."""
    query, seen = quoted(row_in_view(one, row)), one.seen()[min(row, len(one.rows) - 1)]
    order = [int(key) for key in np.argsort(-np.nan_to_num(seen, nan=-1.0), kind="stable")[:3] if seen[int(key)] > 0]
    if not order:
        return f"{query} can see nothing."
    keys = ", ".join(f"{quoted(one.column_labels[key])} ({weight_percent(float(seen[key]))})" for key in order)
    return f"{query} looks at {keys}."
