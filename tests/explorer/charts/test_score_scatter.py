"""Two scores of all heads against each other."""

from __future__ import annotations

import numpy as np

from explorer.charts.measured_heads import score_scatter
from explorer.probing.roles import NO_ROLE, Role

PLAIN = Role(NO_ROLE, (), "")


def test_one_score_against_another() -> None:
    x = {"encoder": np.array([[1.0, 2.0]]), "cross": np.array([[3.0, np.nan]])}
    y = {"encoder": np.array([[2.0, 1.0]]), "cross": np.array([[0.5, 0.1]]), "decoder": np.zeros((1, 1))}
    roles = {(kind, 0, head): PLAIN for kind in ("encoder", "cross") for head in range(2)}
    plot = score_scatter(x, y, ("keys", "weight"), roles)  # type: ignore[arg-type]
    assert [trace.name for trace in plot.figure.data] == ["encoder", "cross"]
    assert [list(trace.x) for trace in plot.figure.data] == [[1.0, 2.0], [3.0]]
    assert "3 heads: keys and weight have a rank correlation of -1.00" in plot.caption
    assert plot.table["head"] == ["L1 H1", "L1 H2", "L1 H1"]
