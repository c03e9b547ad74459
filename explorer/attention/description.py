"""What a map of attention says, in a sentence and as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ROWS = 200


def head_caption(weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], *, causal: bool) -> str:
    """One head in a sentence: its sharpest row, and how many tokens a row looks at on average.

    Shapes: weights [query, key]; `causal` leaves rows that can see only one token out of account.
    """
    first = 1 if causal and len(rows) > 1 else 0
    query = first + int(weights[first:].max(axis=-1).argmax())
    key = int(weights[query].argmax())
    exact = weights[first:].astype(np.float64)
    logs = np.log(exact, out=np.zeros_like(exact), where=exact > 0)
    tokens = float(np.exp(-(exact * logs).sum(axis=-1)).mean())
    return (
        f"Its sharpest row is {query + 1} {rows[query]}, which looks at {key + 1} {columns[key]} "
        f"({100 * weights[query, key]:.0f} %); on average a row looks at {tokens:.1f} of {len(columns)} tokens."
    )


def head_table(
    weights: NDArray[np.float32], rows: tuple[str, ...], columns: tuple[str, ...], predicted: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The two strongest links of each row of one head; weights in percent."""
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
