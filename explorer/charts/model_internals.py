"""Figures of the Inside page: activations, queries and keys, the prediction layer by layer, parameters and FLOPs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import (
    COLOURS,
    Columns,
    Plot,
    bars,
    heatmap,
    label,
    labels,
    lying,
    margin,
    numbered,
)
from explorer.locale.messages import message, t, translated
from explorer.locale.text import count, quoted
from model.analysis.operations import Projection
from model.analysis.size import Part

Floats = NDArray[np.float32]
MAX_COLUMNS = 32


def _range_with_room(values: NDArray[Any], share: float) -> list[float]:
    """The range of an axis, with room for the labels of the outermost points, even on a phone."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low) or 1.0
    return [low - room, high + room]


_PLANE = (290.0, 280.0)  # extent of the points of a projection in a column of a laptop's page, in pixels
_LETTER, _LINE, _GAP = 7.0, 15.0, 9.0  # of a label: width of a letter, height, distance from its point
_SIDES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
}


def label_sides(points: NDArray[Any], names: Sequence[str]) -> list[str]:
    """Choose the side of each point [point, 2] on which its label overlaps other labels and points least."""
    extent = np.ptp(points, axis=0)
    at = points / np.where(extent > 0, extent, 1.0) * _PLANE
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in at]  # the markers, then the labels
    chosen = []
    for (x, y), name in zip(at, names, strict=True):
        width = _LETTER * len(name)
        sides = {}
        for side, (dx, dy) in _SIDES.items():
            left = x + dx * _GAP - width * (1 - dx) / 2
            low = y + dy * _GAP - _LINE * (1 - dy) / 2
            sides[side] = (left, low, left + width, low + _LINE)
        side = min(sides, key=lambda each: sum(_overlap(sides[each], box) for box in boxes))
        boxes.append(sides[side])
        chosen.append(side)
    return chosen


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The area that two boxes (left, bottom, right, top) share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def projection_plot(projection: Projection, groups: Sequence[tuple[str, Sequence[str]]], title: str) -> Plot:
    """Plot the points of several groups of tokens in the plane of their two principal components."""
    figure = go.Figure()
    start, symbols = 0, ("circle", "diamond", "square")
    sides = label_sides(projection.points, [name for _, tokens in groups for name in numbered(tokens)])
    columns: Columns = {t("group"): [], t("token"): [], "x": [], "y": []}
    for i, (name, tokens) in enumerate(groups):
        points, places = projection.points[start : start + len(tokens)], sides[start : start + len(tokens)]
        start += len(tokens)
        figure.add_trace(
            go.Scatter(
                x=points[:, 0],
                y=points[:, 1],
                name=name,
                mode="markers+text",
                text=labels(tokens),
                textposition=places,
                marker={"size": 11, "symbol": symbols[i % 3], "color": COLOURS[i]},
                hovertemplate=name + ": %{text}<extra></extra>",
            )
        )
        columns[t("group")] += [name] * len(tokens)
        columns[t("token")] += numbered(tokens)
        columns["x"] += points[:, 0].round(4).tolist()
        columns["y"] += points[:, 1].round(4).tolist()
    figure.update_layout(
        height=460,
        margin=margin(top=44),
        legend={"orientation": "h", "y": 1.1},
        xaxis={
            "title": {"text": t("first principal component"), "standoff": 10},
            "zeroline": False,
            "automargin": False,
            "range": _range_with_room(projection.points[:, 0], 0.18),
        },
        yaxis={
            "title": {"text": t("second principal component"), "standoff": 14},
            "zeroline": False,
            "automargin": False,
            "range": _range_with_room(projection.points[:, 1], 0.12),
        },
    )
    caption = t(
        "The two principal components explain {percent:.0f} % of the variance; the rest is not in the "
        "figure, so points that are close here may still be far apart.",
        percent=100 * projection.explained_variance,
    )
    return Plot(figure, caption, title, columns)


def lens_plot(
    probabilities: Floats, words: Sequence[Sequence[str]], rows: Sequence[str], stages: Sequence[str]
) -> Plot:
    """Draw the likeliest token after each stage, [stage, row], with its probability as the colour."""
    figure = heatmap(
        probabilities.T,
        x=[label(stage) for stage in stages],
        y=labels(rows),
        x_title=t("read off after"),
        y_title=t("decoder reads"),
        height=150 + 30 * min(len(rows), 16),
    )
    cell_tokens = np.array([[label(words[s][r]) for s in range(len(stages))] for r in range(len(rows))])
    figure.data[0].update(
        text=cell_tokens,
        texttemplate="%{text}",
        customdata=cell_tokens,
        hovertemplate=t("%{{y}}, after %{{x}}: %{{customdata}}, %{{z:.1%}}") + "<extra></extra>",
    )
    last, final = len(rows) - 1, words[-1][-1]
    first_final = next(s for s in range(len(stages)) if all(words[i][last] == final for i in range(s, len(stages))))
    caption = t(
        "After {read} the prediction is {token} ({percent:.0f} %); it is first from “{stage}” on.",
        read=quoted(rows[last]),
        token=quoted(final),
        percent=100 * probabilities[-1, last],
        stage=stages[first_final],
    )
    table: Columns = {t("decoder reads"): numbered(rows)}
    for s, stage in enumerate(stages):
        table[stage] = [
            t("{token} ({percent:.1f} %)", token=words[s][r], percent=100 * probabilities[s, r])
            for r in range(len(rows))
        ]
    return Plot(figure, caption, t("How the prediction forms"), table)


OTHERS = message("all others")


def chances_plot(tokens: Sequence[str], series: Mapping[str, Sequence[float]], caption: str, title: str) -> Plot:
    """Draw the probabilities of some tokens, and of all others together, as one series of bars per name, in percent."""
    percent = {name: [100 * v for v in (*values, max(0.0, 1 - sum(values)))] for name, values in series.items()}
    figure = bars(percent, tokens, y_title=t("probability (%)"), top=105, height=340, also=[translated(OTHERS)])
    columns: Columns = {t("token"): [*numbered(tokens), translated(OTHERS)]}
    columns |= {t("{name} (%)", name=name): [round(v, 4) for v in values] for name, values in percent.items()}
    return Plot(figure, caption, title, columns)


def budget_plot(parts: Sequence[Part]) -> Plot:
    """Draw the share of each part in the parameters and in the FLOPs of one pass."""
    counts = {
        t("parameters"): [part.parameters for part in parts],
        t("FLOPs of one pass"): [part.flops for part in parts],
    }
    shares = {unit: [100 * value / (sum(values) or 1) for value in values] for unit, values in counts.items()}
    names = [part.name for part in parts]
    figure = lying(bars(shares, (), y_title=t("share (%)"), height=100 + 34 * len(names), also=names))
    table: Columns = {t("part"): names}
    sentences = []
    for unit, values in counts.items():
        table |= {unit: values, t("{unit} (%)", unit=unit): [round(share, 2) for share in shares[unit]]}
        most = max(range(len(parts)), key=lambda i: values[i])
        sentences.append(
            t(
                "{total} {unit}; the largest part is the {part} ({share:.0f} %).",
                total=count(sum(values)),
                unit=unit,
                part=names[most],
                share=shares[unit][most],
            )
        )
    return Plot(figure, " ".join(sentences), t("Where the parameters and the FLOPs are"), table)
