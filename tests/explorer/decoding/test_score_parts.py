"""Terms of a score in words."""

from __future__ import annotations

import numpy as np

from explorer.charts.score_terms import terms_plot
from explorer.decoding.score_parts import explanation, largest_terms, mean_explanation, part_label, term_rows
from model.analysis.score_terms import Part

QUERY = [Part("word"), Part("position")]
KEY = [Part("word"), Part("head", "encoder", 0, 1), Part("feed_forward", "encoder", 1)]
TABLE = np.array([[0.5, -0.25, 0.0], [3.0, 1.5, -0.75]])


def test_what_parts_are_called() -> None:
    assert [part_label(part) for part in KEY] == ["word", "encoder L1 H2", "encoder L2 feed-forward"]
    assert part_label(Part("head", "cross", 2, 3).group) == "cross L3 heads"
    assert part_label(Part("bias")) == "biases"


def test_the_largest_terms_come_first_with_their_share() -> None:
    assert largest_terms(TABLE, 2) == [(1, 0), (1, 1)]
    said = explanation(TABLE, QUERY, KEY, (4, "reads"), (2, "books"))
    assert said.startswith("6 terms that sum to +4.00: +5.00 above zero and -1.00 below. Largest: ")
    assert "the word “books” as key and position 4 as query: +3.00, 60 % of what raises it" in said
    assert "what encoder L1 H2 added as key and position 4 as query: +1.50, 30 % of what raises it" in said
    assert said.endswith(
        "what the feed-forward network of encoder L2 added as key and position 4 as query: -0.75, "
        "75 % of what lowers it."
    )


def test_the_mean_and_the_table() -> None:
    said = mean_explanation(TABLE, QUERY, KEY, 12)
    assert said.startswith("Over 12 sentences. 6 terms that sum to +4.00")
    assert "word as key and position as query (+3.00, 60 % of what raises it)" in said
    assert "no" in mean_explanation(np.full((2, 3), np.nan), QUERY, KEY, 1).lower()
    rows = term_rows(TABLE, QUERY, KEY)
    assert [row["term"] for row in rows] == [3.0, 1.5, -0.75, 0.5, -0.25, 0.0]
    plot = terms_plot(TABLE, QUERY, KEY, said)
    heat = plot.figure.data[0]
    assert (heat.zmin, heat.zmax) == (-3.0, 3.0)
    assert heat.text[0] == ("+0.50", "-0.25", "0.00") or list(heat.text[0]) == ["+0.50", "-0.25", "0.00"]
    assert plot.table["term"] == [row["term"] for row in rows]
