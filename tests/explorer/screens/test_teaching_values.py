"""Texts and tables of the Positions, Masks, Inside and Probe pages, computed from values without Streamlit."""

import numpy as np

from explorer.charts.plotly_charts import labels
from explorer.decoding.labelled_map import SCORE, closed_cells, map_caption, map_table, token_map
from explorer.decoding.names import numbered
from model.trace import FUTURE, PADDING, VISIBLE


def test_a_single_step_is_numbered_by_its_position() -> None:
    assert numbered(["."], first=9) == ("9 .",)
    assert labels(["<b>"], 2) == ["2 &lt;b&gt;"]
    values = np.array([[0.5, -2.0]], dtype=np.float32)
    scores = token_map("cross", values, (".",), ("a", "b"), "", first_row=9, unit=SCORE, signed=True, top=None)
    assert map_table(scores) == [{"query": "9 .", "1 a": 0.5, "2 b": -2.0}]
    assert map_caption(scores) == "The score furthest from 0 is −2.000, of query “9 .” and key “2 b”."


def test_closed_cells_are_counted_once_by_reason() -> None:
    codes = np.array([[VISIBLE, FUTURE, PADDING], [VISIBLE, VISIBLE, PADDING], [VISIBLE, VISIBLE, PADDING]], np.uint8)
    both = "3 padding ╳ (2 of them in the future, too)"
    assert closed_cells(codes) == f"5 of 9 cells are open; closed: 1 in the future ╱ and {both}."
    assert closed_cells(codes[:, :2]) == "5 of 6 cells are open; closed: 1 in the future ╱."
    assert closed_cells(codes[1:]) == "4 of 6 cells are open; closed: 2 padding ╳."
    assert closed_cells(codes[:, :1]) == "All 3 cells are open."
