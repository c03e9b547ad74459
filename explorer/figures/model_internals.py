"""Pictures of the walk through the model: activations, queries and keys, layer by layer, the prediction, the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.figures.plotly_charts import (
    COLOURS,
    Columns,
    Plot,
    bars,
    beside,
    curves,
    heatmap,
    label,
    labels,
    margin,
    names_at,
    numbered,
    width_of,
)
from explorer.text import count
from model.analysis.operations import Projection
from model.analysis.size import Part

Floats = NDArray[np.float32]
MAX_COLUMNS = 32


def activation_plot(values: Floats, tokens: Sequence[str], title: str, *, side: str) -> Plot:
    """The result of an operation as [position, dimension]; a diverging scale, cut at the 99th percentile."""
    top = float(np.quantile(np.abs(values), 0.99)) or 1.0
    figure = heatmap(
        values, x_title="dimension", y_title=side, span=(-top, top), height=120 + 24 * min(len(values), 16)
    )
    names = labels(tokens)
    figure.update_layout(margin_l=beside(names), yaxis=names_at(names, figure.layout.height - 66))
    flat = int(np.abs(values).argmax())
    row, column = divmod(flat, values.shape[1])
    caption = (
        f"{values.shape[0]} × {values.shape[1]} numbers, mean {values.mean():.3f}, spread {values.std():.3f}. The "
        f"largest in size is {values[row, column]:.2f}, at {row + 1} {tokens[row]}, dimension {column}. "
        f"Colours end at ±{top:.2g}."
    )
    columns: Columns = {"position": numbered(tokens)}
    columns |= {f"dim {i}": values[:, i].round(4).tolist() for i in range(min(values.shape[1], MAX_COLUMNS))}
    return Plot(figure, caption, title, columns)


def matrix_plot(values: Floats, rows: Sequence[str], columns: Sequence[str], title: str, *, weights: bool) -> Plot:
    """Scores or weights of one head, [query, key]; what a mask closed stays empty."""
    lowest = float(np.finfo(np.float32).min)
    shown = np.where(values <= lowest, np.nan, values)
    top = float(np.nanmax(np.abs(shown))) or 1.0
    figure = heatmap(
        shown,
        x=labels(columns),
        y=labels(rows),
        x_title="key",
        y_title="query",
        span=(0.0, 1.0) if weights else (-top, top),
    )
    row, column = divmod(int(np.nanargmax(shown)), shown.shape[1])
    unit = f"{100 * shown[row, column]:.0f} %" if weights else f"{shown[row, column]:.2f}"
    caption = f"The largest is {unit}: {row + 1} {rows[row]} and {column + 1} {columns[column]}."
    table: Columns = {"query": numbered(rows)}
    for i, key in enumerate(numbered(columns)):
        table[key] = [None if np.isnan(value) else round(float(value), 4) for value in shown[:, i]]
    return Plot(figure, caption, title, table)


def firing_plot(activations: Floats, tokens: Sequence[str]) -> Plot:
    """How many feed-forward units are above zero at each position; activations [position, d_ff]."""
    share = 100 * (activations > 0).mean(axis=1)
    never = int((activations <= 0).all(axis=0).sum())
    always = int((activations > 0).all(axis=0).sum())
    figure = bars({"units": share.tolist()}, tokens, y_title="units above zero (%)", top=100, height=260)
    caption = (
        f"Of {activations.shape[1]} units {share.mean():.0f} % fire on average; {never} fire nowhere in view, "
        f"{always} everywhere."
    )
    columns: Columns = {"position": numbered(tokens), "units above zero (%)": share.round(1).tolist()}
    return Plot(figure, caption, "How many units fire", columns)


def projection_plot(found: Projection, groups: Sequence[tuple[str, Sequence[str]]], title: str) -> Plot:
    """Points of several groups, each with its tokens, in the plane in which they differ most."""
    made = go.Figure()
    start, symbols = 0, ("circle", "diamond", "square")
    columns: Columns = {"group": [], "token": [], "x": [], "y": []}
    for i, (name, tokens) in enumerate(groups):
        points = found.points[start : start + len(tokens)]
        start += len(tokens)
        made.add_trace(
            go.Scatter(
                x=points[:, 0],
                y=points[:, 1],
                name=name,
                mode="markers+text",
                text=labels(tokens),
                textposition="top center" if i % 2 == 0 else "bottom center",
                marker={"size": 11, "symbol": symbols[i % 3], "color": COLOURS[i]},
                hovertemplate=name + ": %{text}<extra></extra>",
            )
        )
        columns["group"] += [name] * len(tokens)
        columns["token"] += numbered(tokens)
        columns["x"] += points[:, 0].round(4).tolist()
        columns["y"] += points[:, 1].round(4).tolist()
    made.update_layout(
        height=460,
        margin=margin(top=44),
        legend={"orientation": "h", "y": 1.1},
        xaxis={
            "title": {"text": "direction of most difference", "standoff": 10},
            "zeroline": False,
            "automargin": False,
        },
        yaxis={"title": {"text": "second", "standoff": 14}, "zeroline": False, "automargin": False},
    )
    caption = (
        f"The two directions hold {100 * found.kept:.0f} % of what the vectors differ by; the rest is not in the "
        f"picture, so points that lie together here may still be apart."
    )
    return Plot(made, caption, title, columns)


def lens_plot(
    probabilities: Floats, words: Sequence[Sequence[str]], rows: Sequence[str], stages: Sequence[str]
) -> Plot:
    """The likeliest token after each stage, [stage, row], with its probability as the colour."""
    figure = heatmap(
        probabilities.T,
        x=[label(stage) for stage in stages],
        y=labels(rows),
        x_title="read off after",
        y_title="decoder reads",
        height=150 + 30 * min(len(rows), 16),
    )
    shown = np.array([[label(words[s][r]) for s in range(len(stages))] for r in range(len(rows))])
    figure.data[0].update(
        text=shown,
        texttemplate="%{text}",
        customdata=shown,
        hovertemplate="%{y}, after %{x}: %{customdata}, %{z:.1%}<extra></extra>",
    )
    last, final = len(rows) - 1, words[-1][-1]
    settled = next(s for s in range(len(stages)) if all(words[t][last] == final for t in range(s, len(stages))))
    caption = (
        f"After {rows[last]} the last word is {final} ({100 * probabilities[-1, last]:.0f} %); it leads from "
        f"'{stages[settled]}' on."
    )
    table: Columns = {"decoder reads": numbered(rows)}
    for s, stage in enumerate(stages):
        table[stage] = [f"{words[s][r]} ({100 * probabilities[s, r]:.1f} %)" for r in range(len(rows))]
    return Plot(figure, caption, "The prediction forming", table)


def chances_plot(tokens: Sequence[str], series: Mapping[str, Sequence[float]], caption: str, title: str) -> Plot:
    """Probabilities of the same tokens under several names, side by side, in percent."""
    percent = {name: [100 * v for v in values] for name, values in series.items()}
    figure = bars(percent, tokens, y_title="probability (%)", top=105, height=340)
    columns: Columns = {"token": numbered(tokens)}
    columns |= {f"{name} (%)": [round(100 * v, 4) for v in values] for name, values in series.items()}
    return Plot(figure, caption, title, columns)


def smoothing_plot(epsilons: Sequence[float], losses: Sequence[float], least: Sequence[float], chosen: float) -> Plot:
    """The loss of one prediction, and the lowest that is possible, over ε."""
    figure = curves(
        {"this prediction": (epsilons, losses), "lowest possible": (epsilons, least)},
        x_title="label smoothing ε",
        y_title="loss (nats)",
    )
    at = int(np.abs(np.asarray(epsilons) - chosen).argmin())
    caption = (
        f"At ε = {epsilons[at]:.2f} this prediction costs {losses[at]:.3f} nats; no prediction could cost less than "
        f"{least[at]:.3f}. The surer the model, the more smoothing costs it."
    )
    columns: Columns = {
        "ε": [round(e, 3) for e in epsilons],
        "this prediction (nats)": [round(v, 4) for v in losses],
        "lowest possible (nats)": [round(v, 4) for v in least],
    }
    return Plot(figure, caption, "What label smoothing costs", columns)


def budget_plot(parts: Sequence[Part], *, flops: bool) -> Plot:
    """Parameters or FLOPs by part, as bars from left to right."""
    values = [part.flops if flops else part.parameters for part in parts]
    total = sum(values) or 1
    known = [(part.name, value) for part, value in zip(parts, values, strict=True) if value]
    names = [name for name, _ in known][::-1]
    figure = go.Figure(
        go.Bar(
            x=[value for _, value in known][::-1],
            y=names,
            orientation="h",
            text=[f"{count(value)} ({100 * value / total:.0f} %)" for _, value in known][::-1],
            textposition="auto",
            marker={"color": COLOURS[0]},
        )
    )
    unit = "FLOPs of one pass" if flops else "parameters"
    room = margin(left=14 + max(width_of(name) for name in names))
    figure.update_layout(
        height=110 + 28 * len(names),
        margin=room,
        xaxis={"title": {"text": unit, "standoff": 10}, "nticks": 4, "tickangle": 0, "automargin": False},
        yaxis={"automargin": False},
    )
    most, value = max(known, key=lambda each: each[1])
    caption = f"{count(sum(values))} {unit}; most of them in the {most} ({100 * value / total:.0f} %)."
    table: Columns = {
        "part": [part.name for part in parts],
        unit: list(values),
        "share (%)": [round(100 * value / total, 2) for value in values],
    }
    return Plot(figure, caption, "Where the FLOPs are" if flops else "Where the parameters are", table)


def row_table(tokens: Sequence[str], **numbers: Sequence[float]) -> Columns:
    """A row a position; underscores in names become spaces."""
    table: dict[str, list[Any]] = {"position": numbered(tokens)}
    return table | {name.replace("_", " "): [round(float(v), 4) for v in values] for name, values in numbers.items()}
