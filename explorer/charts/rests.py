"""Draw where attention rests: a mark for each variant at each layer, with the range of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from explorer.charts.chart import GREY
from explorer.charts.plotly_charts import COLOURS, Plot, label, legend_room, margin
from explorer.locale.messages import t, translated
from explorer.runs.experiment_rests import MEASURES, UNIFORM, Place, caption

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


def rests_plot(places: Sequence[Place], measure: str) -> Plot:
    """Draw a measure at all layers; a dash marks the value of equal weights."""
    names = [place.name for place in places]
    labels = list(dict.fromkeys(variant for place in places for variant in place.values))
    figure = go.Figure()
    columns: dict[str, list[Any]] = {t("place"): names}
    uniform = translated(UNIFORM)
    if any(place.uniform is not None for place in places):
        columns[uniform] = [None if place.uniform is None else round(place.uniform, 1) for place in places]
        figure.add_scatter(
            x=names,
            y=[place.uniform for place in places],
            name=uniform,
            mode="markers",
            marker={"symbol": "line-ew-open", "size": 26, "color": GREY, "line": {"width": 2}},
        )
    for i, variant in enumerate(labels):
        values = {place.name: place.values[variant] for place in places if variant in place.values}
        figure.add_scatter(
            x=list(values),
            y=[value.mean for value in values.values()],
            name=label(variant),
            mode="markers",
            marker={"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 11, "color": COLOURS[i % len(COLOURS)]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [value.high - value.mean for value in values.values()],
                "arrayminus": [value.mean - value.low for value in values.values()],
            },
        )
        for part, title in (
            ("mean", t("{variant}, mean", variant=variant)),
            ("low", t("{variant}, low", variant=variant)),
            ("high", t("{variant}, high", variant=variant)),
        ):
            numbers = {name: round(getattr(value, part), 1) for name, value in values.items()}
            columns[title] = [numbers.get(name) for name in names]
    figure.update_layout(
        height=380,
        margin=margin(top=legend_room([uniform, *labels])),
        scattermode="group",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        yaxis={"title": {"text": translated(MEASURES[measure])}, "rangemode": "tozero"},
        xaxis={"type": "category"},
    )
    return Plot(figure, caption(places, measure), "", columns)
