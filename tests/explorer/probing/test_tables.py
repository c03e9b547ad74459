"""Tables of all heads."""

from __future__ import annotations

from explorer.probing.measured import Measured
from explorer.probing.tables import colour_range, head_rows, kinds_with, summary


def test_tables_agree_with_the_scores(measured: Measured) -> None:
    rows = head_rows(measured.probe)
    assert len(rows) == 12
    cross = next(row for row in rows if (row["kind"], row["head"]) == ("cross", "L1 H2"))
    scores = measured.probe.kinds["cross"].scores
    assert cross["alignment accuracy"] == round(float(scores["accuracy"].mean[0, 1]), 3)
    assert "next token" in rows[0]
    assert [row["kind"] for row in head_rows(measured.probe, ["decoder"])] == ["decoder"] * 2
    assert "next token" not in head_rows(measured.probe, ["decoder"])[0], "a column without any value is left out"
    assert summary(measured.probe).startswith("4 of 12 heads have a clear role")


def test_maps_of_one_statistic_share_a_colour_scale(measured: Measured) -> None:
    assert colour_range(measured.probe, "previous") == (0.0, 1.0)
    largest = max(kind.scores["effective_keys"].mean.max() for kind in measured.probe.kinds.values())
    assert colour_range(measured.probe, "effective_keys") == (0.0, largest)
    assert kinds_with(measured.probe, "aligned") == ["cross"]
    assert kinds_with(measured.probe, "next") == ["encoder"]
