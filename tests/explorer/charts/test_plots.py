"""Plotly figures declare the room that their texts need, so that Plotly need not lay them out twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.charts import measured_heads, model_internals, positions
from explorer.charts.plotly_charts import MOST_LETTERS, bars, curves, heatmap, label, labels, legend_room, width_of
from model.analysis.size import Part
from model.positions import sinusoidal_table, wavelengths

TOKENS = ("a", "<eos>", "w" * 60, "日本語")
SQUARE = np.full((4, 4), 0.25, dtype=np.float32)
TABLE, WAVES = sinusoidal_table(8, 6).numpy(), wavelengths(6).numpy()

FIGURES: dict[str, go.Figure] = {
    "table": positions.table_plot(TABLE, WAVES).figure,
    "curves": positions.curves_plot(TABLE, WAVES, (0, 1, 2)).figure,
    "wavelengths": positions.wavelength_plot(WAVES, 8).figure,
    "products": positions.product_plot(TABLE, distance=False).figure,
    "rotation": positions.rotation_plot(TABLE, 0, 1, 2).figure,
    "activations": model_internals.activation_plot(SQUARE, TOKENS, "t", side="position").figure,
    "chances": model_internals.chances_plot(TOKENS, {"one": [0.1] * 4, "two": [0.2] * 4}, "c", "t").figure,
    "budget": model_internals.budget_plot([Part("embedding", 5, 7), Part("rest", 2, 3)]).figure,
    "head map": measured_heads.layer_head_map(np.eye(2), "cross", "score", span=(0, 1)).figure,
    "coverage": measured_heads.coverage_plot(np.ones((1, 4)), TOKENS).figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_brings_its_margins(name: str) -> None:
    layout = FIGURES[name].layout
    assert layout.margin.autoexpand is False
    assert not any(axis.automargin for axis in (layout.xaxis, layout.yaxis))


def ticks(axis: Any) -> list[str]:
    return list(axis.ticktext)


def test_names_of_rows_and_columns_have_room() -> None:
    made = heatmap(SQUARE, x=labels(TOKENS), y=labels(TOKENS), x_title="key", y_title="query")
    widest = max(width_of(name) for name in ticks(made.layout.yaxis))
    assert made.layout.margin.l > widest
    assert made.layout.margin.t > 0.7 * widest
    assert made.layout.xaxis.tickangle == -45
    many = labels(["token"] * 17)
    upright = heatmap(np.zeros((17, 17)), x=many, y=many, x_title="key", y_title="query")
    assert upright.layout.xaxis.tickangle == -90
    assert upright.layout.margin.t > width_of(many[-1])
    narrow = heatmap(SQUARE[:2, :2], x=["H1", "H2"], y=["L1", "L2"], x_title="head", y_title="layer")
    assert narrow.layout.xaxis.tickangle == 0


def test_names_that_would_touch_are_left_out() -> None:
    many = labels(["token"] * 17)
    narrow, wide = (
        heatmap(np.zeros((17, 17)), x=many, y=many, x_title="key", y_title="query", width=width).layout.xaxis
        for width in (310, 900)
    )
    assert list(wide.tickvals) == list(range(17))
    assert list(narrow.tickvals) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert ticks(narrow) == [many[i] for i in narrow.tickvals]


def test_long_names_are_cut_and_markup_stays_whole() -> None:
    names = [label(f"1 {'&' * 60}"), label("2 <b>")]
    made = heatmap(SQUARE[:2, :2], x=names, y=names, x_title="key", y_title="query")
    assert ticks(made.layout.yaxis) == ["1 " + "&amp;" * (MOST_LETTERS - 3) + "…", "2 &lt;b&gt;"]


def test_wide_letters_take_twice_the_room() -> None:
    assert width_of("日本") == width_of("abcd")


def test_a_long_legend_gets_more_rows() -> None:
    assert legend_room(["one"]) < legend_room(["one", "two"]) < legend_room([f"dimension {i} (sin)" for i in range(6)])
    series = {f"dimension {i} (sin)": ([0, 1], [0, 1]) for i in range(6)}
    made = curves(series, x_title="x", y_title="y")
    assert made.layout.margin.t == legend_room(list(series))


def test_bars_are_told_apart_without_colour() -> None:
    made = bars({"one": [1.0], "two": [2.0]}, ["a"], y_title="y", top=3)
    assert [bar.marker.pattern.shape for bar in made.data] == ["", "/"]
    assert list(made.layout.yaxis.range) == [0, 3]
