"""What a map of attention shows, in a sentence computed from its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.attention.entropy import effective_keys
from explorer.attention.head_summary import HeadSummary
from explorer.attention.labelled_map import LabelledMap
from model.trace import VISIBLE


def head_caption(weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], *, causal: bool) -> str:
    """One head in a sentence: its sharpest row, and how many tokens a row looks at on average.

    Shapes: weights [query, key]; `causal` leaves rows that can see only one token out of account.
    """
    first = 1 if causal and len(rows) > 1 else 0
    query = first + int(weights[first:].max(axis=-1).argmax())
    key = int(weights[query].argmax())
    tokens = float(effective_keys(weights[first:]).mean())
    return (
        f"Its sharpest row is {query + 1} {rows[query]}, which looks at {key + 1} {columns[key]} "
        f"({100 * weights[query, key]:.0f} %); on average a row looks at {tokens:.1f} of {len(columns)} tokens."
    )


def map_caption(shown: LabelledMap) -> str:
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


def summary_caption(summary: HeadSummary, layer: int, head: int) -> str:
    """A head's two most telling numbers: how many keys it looks at, and its favourite or else largest place."""
    effective = float(summary.effective[layer - 1, head - 1])
    keys = "no choice" if np.isnan(effective) else f"{effective:.1f} keys"
    shares = {name: float(share[layer - 1, head - 1]) for name, share in summary.shares.items()}
    known = {name: share for name, share in shares.items() if not np.isnan(share)}
    if not known:
        return keys
    role = summary.role(layer - 1, head - 1)
    name = role if role in known else max(known, key=lambda one: known[one])
    return f"{keys}, {name} {100 * known[name]:.0f} %"


def row_in_view(one: LabelledMap, row: int) -> str:
    """The label of a row (from 0); of the last, where the map has fewer."""
    return one.row_labels[min(row, len(one.rows) - 1)]


def row_caption(one: LabelledMap, row: int) -> str:
    """One row in a sentence: the keys that it looks at most."""
    seen = one.seen()[min(row, len(one.rows) - 1)]
    order = [int(key) for key in np.argsort(-np.nan_to_num(seen, nan=-1.0), kind="stable")[:3] if seen[int(key)] > 0]
    if not order:
        return f"{row_in_view(one, row)} sees nothing."
    looked = ", ".join(f"{one.column_labels[key]} ({100 * seen[key]:.0f} %)" for key in order)
    return f"{row_in_view(one, row)} looks at {looked}."
