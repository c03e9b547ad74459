"""A map of attention as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.labelled_map import LabelledMap

MAX_ROWS = 200


def head_table(
    weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], predicted: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The two keys with the largest weights in each row of one head; weights in percent."""
    table = []
    for query, token in enumerate(rows[:MAX_ROWS]):
        order = np.argsort(-weights[query], kind="stable")[:2]
        row: dict[str, Any] = {"query": f"{query + 1} {token}"}
        if predicted:
            row["predicts"] = predicted[query]
        for name, key in zip(("looks most at", "and then at"), order, strict=False):
            row[name] = f"{key + 1} {columns[key]}"
            row[f"{name} (%)"] = round(100 * float(weights[query, key]), 1)
        table.append(row)
    return table


def map_table(shown: LabelledMap) -> list[dict[str, Any]]:
    """One row per query and one column per key, with the numbers themselves; empty where masked."""
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
