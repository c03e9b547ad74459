"""Two scores of all heads against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import Plot, label
from explorer.decoding.names import index_name
from explorer.probing.roles import Role
from model.config import AttentionKind
from model.points import Head

Scores = NDArray[np.float64]


def score_scatter(
    x: Mapping[AttentionKind, Scores],
    y: Mapping[AttentionKind, Scores],
    titles: tuple[str, str],
    roles: Mapping[Head, Role],
) -> Plot:
    """One score of every head against another, a symbol for each kind; x and y by kind, [layer, head]."""
    symbols: dict[AttentionKind, str] = {"encoder": "circle", "decoder": "square", "cross": "diamond"}
    figure = go.Figure(
        layout=go.Layout(
            height=420,
            margin={"l": 64, "r": 14, "t": 40, "b": 50, "autoexpand": False},
            xaxis={"title": {"text": titles[0], "standoff": 10}},
            yaxis={"title": {"text": titles[1], "standoff": 14}},
            legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        )
    )
    table: dict[str, list[Any]] = {"kind": [], "head": [], "role": [], titles[0]: [], titles[1]: []}
    pairs = []
    for kind in (kind for kind in symbols if kind in x and kind in y):
        places = [place for place in np.ndindex(x[kind].shape) if np.isfinite(x[kind][place] + y[kind][place])]
        figure.add_trace(
            go.Scatter(
                x=[float(x[kind][place]) for place in places],
                y=[float(y[kind][place]) for place in places],
                text=[index_name(*place) for place in places],
                customdata=[label(roles[kind, *place].name) for place in places],
                name=kind,
                mode="markers+text",
                textposition="top center",
                marker={"size": 10, "symbol": symbols[kind]},
                hovertemplate="%{text}: %{customdata}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
            )
        )
        for place in places:
            pair = float(x[kind][place]), float(y[kind][place])
            pairs.append(pair)
            row = (kind, index_name(*place), roles[kind, *place].name, round(pair[0], 4), round(pair[1], 4))
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
    return Plot(figure, _correlation(pairs, titles), "", table)


def _correlation(pairs: Sequence[tuple[float, float]], titles: tuple[str, str]) -> str:
    """Spearman's rank correlation (1904) of both scores over the heads."""
    if len(pairs) < 3:
        return "There are too few heads with both scores to compare."
    ranks = [_ranks(np.array(values)) for values in zip(*pairs, strict=True)]
    if min(float(rank.std()) for rank in ranks) == 0:
        return f"All {len(pairs)} heads have one value of a score: nothing to compare."
    correlation = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return f"{len(pairs)} heads: {titles[0]} and {titles[1]} have a rank correlation of {correlation:+.2f} (Spearman)."


def _ranks(values: Scores) -> Scores:
    """Ranks from 0, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: Scores = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return shared
