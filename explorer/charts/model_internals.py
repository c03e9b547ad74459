"""Figures of the Inside page: activations, queries and keys, layer by layer, the prediction, parameters and FLOPs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import (
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
from explorer.locale.messages import t
from explorer.locale.text import count, quoted
from model.analysis.operations import Operation, Projection, Walk
from model.analysis.size import Part

Floats = NDArray[np.float32]
MAX_COLUMNS = 32


def activation_plot(values: Floats, tokens: Sequence[str], title: str, *, side: str, first: int = 1) -> Plot:
    """The result of an operation [position, dimension]; the diverging scale is cut at the 99th percentile.

    `first` is the position of the first token.
    """
    top = float(np.quantile(np.abs(values), 0.99)) or 1.0
    figure = heatmap(
        values, x_title="dimension", y_title=side, span=(-top, top), height=120 + 24 * min(len(values), 16)
    )
    names = labels(tokens, first)
    figure.update_layout(margin_l=beside(names), yaxis=names_at(names, figure.layout.height - 66))
    flat = int(np.abs(values).argmax())
    row, column = divmod(flat, values.shape[1])
    caption = (
        f"{values.shape[0]} × {values.shape[1]} numbers, mean {values.mean():.3f}, standard deviation "
        f"{values.std():.3f}. The largest in magnitude is {values[row, column]:.2f}, at {row + first} "
        f"{quoted(tokens[row])}, dimension {column}. The colour scale ends at ±{top:.2g}."
    )
    columns: Columns = {"position": numbered(tokens, first)}
    columns |= {f"dim {i}": values[:, i].round(4).tolist() for i in range(min(values.shape[1], MAX_COLUMNS))}
    return Plot(figure, caption, title, columns)


def matrix_plot(
    values: Floats, rows: Sequence[str], columns: Sequence[str], title: str, *, weights: bool, first: int = 1
) -> Plot:
    """Scores or weights of one head, [query, key]; masked cells stay empty. `first` is the first query's position."""
    lowest = float(np.finfo(np.float32).min)
    shown = np.where(values <= lowest, np.nan, values)
    top = float(np.nanmax(np.abs(shown))) or 1.0
    figure = heatmap(
        shown,
        x=labels(columns),
        y=labels(rows, first),
        x_title="key",
        y_title="query",
        span=(0.0, 1.0) if weights else (-top, top),
    )
    row, column = divmod(int(np.nanargmax(shown)), shown.shape[1])
    unit = f"{100 * shown[row, column]:.0f} %" if weights else f"{shown[row, column]:.2f}"
    caption = (
        f"The largest is {unit}: query {row + first} {quoted(rows[row])}, key {column + 1} {quoted(columns[column])}."
    )
    table: Columns = {"query": numbered(rows, first)}
    for i, key in enumerate(numbered(columns)):
        table[key] = [None if np.isnan(value) else round(float(value), 4) for value in shown[:, i]]
    return Plot(figure, caption, title, table)


def firing_plot(activations: Floats, tokens: Sequence[str], *, first: int = 1) -> Plot:
    """How many feed-forward units are above zero at each position; activations [position, d_ff]."""
    share = 100 * (activations > 0).mean(axis=1)
    never = int((activations <= 0).all(axis=0).sum())
    always = int((activations > 0).all(axis=0).sum())
    figure = bars({"units": share.tolist()}, tokens, y_title="units above zero (%)", top=100, height=260, first=first)
    caption = (
        f"Of {activations.shape[1]} units, {share.mean():.0f} % are active on average; {never} are never "
        f"active in view, {always} always."
    )
    columns: Columns = {"position": numbered(tokens, first), "units above zero (%)": share.round(1).tolist()}
    return Plot(figure, caption, "Active units", columns)


def _roomy(values: NDArray[Any], share: float) -> list[float]:
    """The range of an axis whose points have labels: also at its ends, on a phone, these stay whole."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low) or 1.0
    return [low - room, high + room]


def projection_plot(projection: Projection, groups: Sequence[tuple[str, Sequence[str]]], title: str) -> Plot:
    """Points of several groups, each with its tokens, in the plane of their two principal components."""
    made = go.Figure()
    start, symbols = 0, ("circle", "diamond", "square")
    columns: Columns = {"group": [], "token": [], "x": [], "y": []}
    for i, (name, tokens) in enumerate(groups):
        points = projection.points[start : start + len(tokens)]
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
            "title": {"text": "first principal component", "standoff": 10},
            "zeroline": False,
            "automargin": False,
            "range": _roomy(projection.points[:, 0], 0.18),
        },
        yaxis={
            "title": {"text": "second principal component", "standoff": 14},
            "zeroline": False,
            "automargin": False,
            "range": _roomy(projection.points[:, 1], 0.12),
        },
    )
    caption = (
        f"The two principal components explain {100 * projection.explained_variance:.0f} % of the variance; the rest "
        f"is not in the picture, so points that lie together here may still be far apart."
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
        f"After {quoted(rows[last])} the prediction is {quoted(final)} ({100 * probabilities[-1, last]:.0f} %); it is "
        f"first from '{stages[settled]}' on."
    )
    table: Columns = {"decoder reads": numbered(rows)}
    for s, stage in enumerate(stages):
        table[stage] = [f"{words[s][r]} ({100 * probabilities[s, r]:.1f} %)" for r in range(len(rows))]
    return Plot(figure, caption, "How the prediction forms", table)


OTHERS = "all others"


def chances_plot(tokens: Sequence[str], series: Mapping[str, Sequence[float]], caption: str, title: str) -> Plot:
    """Probabilities of the same tokens under several names, side by side, in percent, and of all other tokens."""
    percent = {name: [100 * v for v in (*values, max(0.0, 1 - sum(values)))] for name, values in series.items()}
    figure = bars(percent, tokens, y_title="probability (%)", top=105, height=340, also=[OTHERS])
    columns: Columns = {"token": [*numbered(tokens), OTHERS]}
    columns |= {f"{name} (%)": [round(v, 4) for v in values] for name, values in percent.items()}
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
        f"At ε = {epsilons[at]:.2f} the loss of this prediction is {losses[at]:.3f} nats; no prediction could have "
        f"less than {least[at]:.3f}. The more confident the model, the more smoothing costs it."
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
    caption = f"{count(sum(values))} {unit}; the largest part is the {most} ({100 * value / total:.0f} %)."
    table: Columns = {
        "part": [part.name for part in parts],
        unit: list(values),
        "share (%)": [round(100 * value / total, 2) for value in values],
    }
    return Plot(figure, caption, "Where the FLOPs are" if flops else "Where the parameters are", table)


def row_table(tokens: Sequence[str], first: int = 1, **numbers: Sequence[float] | NDArray[Any]) -> Columns:
    """One row per position, counted from `first`; underscores in names become spaces."""
    table: Columns = {"position": numbered(tokens, first)}
    return table | {name.replace("_", " "): [round(float(v), 4) for v in values] for name, values in numbers.items()}


def operation_table(run: Walk, operation: Operation, tokens: Sequence[str], first: int) -> tuple[Columns, str] | None:
    """What a norm, residual, scaling or embedding does to each position, and what the table says; otherwise None."""
    value, before = operation.numbers, [run[name].numbers for name in operation.reads]
    if operation.short.startswith("norm"):
        table = row_table(
            tokens,
            first,
            mean_before=before[0].mean(axis=1),
            standard_deviation_before=before[0].std(axis=1),
            mean_after=value.mean(axis=1),
            standard_deviation_after=value.std(axis=1),
        )
        return table, t("Mean and standard deviation of each position before and after the norm")
    if operation.short.startswith("residual"):
        names = ("length_of_input", "length_of_sublayer", "length_of_sum")
        sizes = {name: np.linalg.norm(each, axis=1) for name, each in zip(names, (*before, value), strict=True)}
        return row_table(tokens, first, **sizes), t("Length of the input, of what the sublayer added, and of their sum")
    if operation.short in ("scaled", "positions"):
        sizes = {"length_before": np.linalg.norm(before[0], axis=1), "length_after": np.linalg.norm(value, axis=1)}
        return row_table(tokens, first, **sizes), t("Length of each vector before and after")
    if operation.short == "embedding":
        ids = run.src_ids if operation.name.startswith("src") else run.read_ids
        table = row_table(tokens, first, id=ids[-len(tokens) :])
        return table, t("The id of each token, which is its row in the embedding table")
    return None


def highest_values(operation: Operation, label_of: Callable[[int], str]) -> Columns:
    """The highest logits of the last row, or its highest probabilities, with their tokens."""
    values = operation.numbers if operation.numbers.ndim == 1 else operation.numbers[-1]
    order = np.argsort(-values, kind="stable")[:12]
    is_share = operation.name == "softmax"
    return {
        "rank": list(range(1, len(order) + 1)),
        "token": [label_of(int(i)) for i in order],
        "id": order.tolist(),
        "probability (%)" if is_share else "logit": [
            round(float(100 * values[i] if is_share else values[i]), 4) for i in order
        ],
    }
