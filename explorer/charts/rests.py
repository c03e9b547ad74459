"""The figure of where attention rests: a mark for each variant at each place, with the range of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from explorer.charts.plotly_charts import COLOURS, Plot, label, legend_room, margin
from explorer.runs.experiment_rests import MEASURES, UNIFORM, Place, caption

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


def rests_plot(found: Sequence[Place], measure: str) -> Plot:
    """The measure at all places; a dash marks what equal weights would give."""
    names = [place.name for place in found]
    labels = list(dict.fromkeys(variant for place in found for variant in place.values))
    figure = go.Figure()
    if any(place.uniform is not None for place in found):
        figure.add_scatter(
            x=names,
            y=[place.uniform for place in found],
            name=UNIFORM,
            mode="markers",
            marker={"symbol": "line-ew-open", "size": 26, "color": "#7d8893", "line": {"width": 2}},
        )
    for i, variant in enumerate(labels):
        here = [place for place in found if variant in place.values]
        means = [place.values[variant].mean for place in here]
        figure.add_scatter(
            x=[place.name for place in here],
            y=means,
            name=label(variant),
            mode="markers",
            marker={"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 11, "color": COLOURS[i % len(COLOURS)]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [place.values[variant].high - mean for place, mean in zip(here, means, strict=True)],
                "arrayminus": [mean - place.values[variant].low for place, mean in zip(here, means, strict=True)],
            },
        )
    figure.update_layout(
        height=380,
        margin=margin(top=legend_room([UNIFORM, *labels])),
        scattermode="group",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        yaxis={"title": {"text": MEASURES[measure]}, "rangemode": "tozero"},
        xaxis={"type": "category"},
    )
    columns: dict[str, list[Any]] = {"place": names}
    if any(place.uniform is not None for place in found):
        columns[UNIFORM] = [None if place.uniform is None else round(place.uniform, 1) for place in found]
    for variant in labels:
        for part in ("mean", "low", "high"):
            columns[f"{variant}, {part}"] = [
                round(getattr(place.values[variant], part), 1) if variant in place.values else None for place in found
            ]
    return Plot(figure, caption(found, measure), "", columns)
