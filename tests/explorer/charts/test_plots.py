"""Figures declare the room that their texts need, show their numbers, and can be read in both themes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.charts import measured_heads, model_internals, positions
from explorer.charts.palette import THEME, palettes
from explorer.charts.plotly_charts import MOST_LETTERS, bars, heatmap, inked, label, labels, width_of
from explorer.decoding.position_values import likeness_by_distance, likeness_of_random
from model.analysis.size import Part
from model.positions import sinusoidal_table, wavelengths
from tests.test_theme import contrast, surfaces

TOKENS = ("a", "<eos>", "w" * 60, "日本語")
TABLE, WAVES = sinusoidal_table(8, 6).numpy(), wavelengths(6).numpy()

FIGURES: dict[str, go.Figure] = {
    "table": positions.table_plot(TABLE, WAVES).figure,
    "curves": positions.curves_plot(TABLE, WAVES, (0, 1, 2)).figure,
    "wavelengths": positions.wavelength_plot(WAVES, 8).figure,
    "products": positions.product_plot(TABLE).figure,
    "rotation": positions.rotation_plot(TABLE, 0, 1, 2).figure,
    "budget": model_internals.budget_plot([Part("embedding", 5, 7), Part("rest", 2, 3)]).figure,
    "head map": measured_heads.layer_head_map(np.eye(2), "cross", "score", span=(0, 1)).figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_brings_its_margins(name: str) -> None:
    layout = FIGURES[name].layout
    assert layout.margin.autoexpand is False
    assert not any(axis.automargin for axis in (layout.xaxis, layout.yaxis))


def square(names: list[str], size: int, **given: Any) -> go.Figure:
    return heatmap(np.zeros((size, size)), x=names, y=names, x_title="key", y_title="query", **given)


def test_names_of_rows_and_columns_have_room_and_those_that_would_touch_are_left_out() -> None:
    made = square(labels(TOKENS), 4)
    widest = max(width_of(name) for name in made.layout.yaxis.ticktext)
    assert made.layout.margin.l > widest
    assert made.layout.margin.t > 0.7 * widest
    assert made.layout.xaxis.tickangle == -45
    assert square(["1", "2"], 2).layout.xaxis.tickangle == 0
    many = labels(["token"] * 17)
    upright = square(many, 17)
    assert upright.layout.xaxis.tickangle == -90
    assert upright.layout.margin.t > width_of(many[-1])
    shared = square(["1", "2"], 2, beside=[many, ["1", "2"]])
    assert shared.layout.xaxis.tickangle == -90, "as the map beside it"
    assert shared.layout.margin.t == upright.layout.margin.t
    narrow, wide = (square(many, 17, width=width).layout.xaxis for width in (310, 900))
    assert list(wide.tickvals) == list(range(17))
    assert list(narrow.tickvals) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert list(narrow.ticktext) == [many[i] for i in narrow.tickvals]
    assert width_of("日本") == width_of("abcd"), "wide letters take twice the room"
    cut = square([label(f"1 {'&' * 60}"), label("2 <b>")], 2).layout.yaxis.ticktext
    assert list(cut) == ["1 " + "&amp;" * (MOST_LETTERS - 3) + "…", "2 &lt;b&gt;"], "markup stays whole"


def test_columns_of_a_sentence_that_runs_to_the_left_do_so_in_figures() -> None:
    assert not bars({"one": [1.0]}, ["a"], y_title="y").layout.xaxis.categoryarray
    words = ["ספר", "New", "York", "<eos>"]
    names = labels(words)
    for figure in (
        bars({"one": [1.0] * 4}, words, y_title="y"),
        heatmap(np.ones((4, 4)), x_title="", y_title="", x=names, y=names),
    ):
        assert [*figure.layout.xaxis.categoryarray] == [names[i] for i in (3, 1, 2, 0)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_token_hues_and_hatching_can_be_read_and_masked_is_grey(theme: str) -> None:
    palette = palettes()[theme]
    for ground in surfaces(theme):
        assert contrast(palette["source"], ground) >= 4.5
        assert contrast(palette["target"], ground) >= 4.5
    for name in ("masked", "hatch"):
        channels = bytes.fromhex(palette[name][1:])
        assert max(channels) - min(channels) <= 10
    assert contrast(palette["masked"], palette["hatch"]) >= 1.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("span", [(0.0, 1.0), (-1.0, 1.0)])
def test_numbers_stand_out_from_every_colour_of_a_map(theme: str, span: tuple[float, float]) -> None:
    values = np.linspace(*span, 200).reshape(4, 50)
    map_ = measured_heads.layer_head_map(values, "cross", span=span).figure
    cells, text = inked(map_, dark=theme == "dark").data
    assert (cells.texttemplate, len(text.text)) == (None, values.size)
    brief = measured_heads.layer_head_map(np.full((1, 4), -0.001), "cross", span=span, decimals=4, bar=False).figure
    assert [brief.data[0].showscale, brief.layout.margin.r < map_.layout.margin.r] == [False, True]
    assert [inked(each, dark=False).data[-1].textfont.size for each in (brief, map_)] == [12, 8], "as there is room"
    colours = THEME[theme]["chartDivergingColors" if span[0] < 0 else "chartSequentialColors"]
    channels = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]).T
    steps = np.linspace(*span, len(colours))
    for value, ink in zip(values.flat, text.textfont.color, strict=True):
        cell = "#" + "".join(f"{round(np.interp(value, steps, channel)):02x}" for channel in channels)
        assert contrast({"black": "#000000", "white": "#ffffff"}[ink], cell) >= 4.5, (value, cell, ink)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (sinusoidal_table(16, 32).numpy(), "are more alike"),
        (np.random.default_rng(1).standard_normal((16, 32)), "are no more alike"),
        (np.outer([1, -1] * 4, np.ones(16)), "are less alike"),
    ],
)
def test_neighbours_are_called_alike_only_beyond_what_random_rows_give(rows: np.ndarray, said: str) -> None:
    caption = positions.likeness_plot(likeness_by_distance(rows), likeness_of_random(rows.shape)).caption
    assert f"Neighbours {said} than" in caption


@pytest.mark.parametrize(("scores", "ends"), [([[-3.8, -1], [-2, -0.03]], (-3.8, -0.03)), ([[2, 2], [2, 2]], (2, 3))])
def test_the_scale_of_scores_ends_at_the_lowest_and_the_highest(
    scores: list[list[float]], ends: tuple[float, float]
) -> None:
    trace = positions.score_map("sinusoidal", np.array(scores)).figure.data[0]
    assert (trace.zmin, trace.zmax) == ends
    assert trace.autocolorscale is False, "the diverging scale would put 0 in its middle"
