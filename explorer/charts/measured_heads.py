"""Figures of the Probe page: layer × head maps, similar heads in a plane, one head's rows, and the pruning curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import (
    Plot,
    bars,
    curves,
    heatmap,
    label,
    labels,
    legend_room,
    margin,
    numbered,
    rule,
)
from explorer.decoding.names import index_name, short_head, short_layer
from explorer.locale.text import fixed, rounded

Scores = NDArray[np.float64]


def layer_head_map(
    values: Scores,
    kind: str,
    title: str,
    *,
    span: tuple[float, float],
    baseline: float | None = None,
    decimals: int = 2,
    clear: NDArray[np.bool_] | None = None,
) -> Plot:
    """One score of all heads of one kind, [layer, head], with the number in each cell.

    Where `clear` [layer, head] is given, values that cannot be distinguished from zero stand in brackets.
    """
    n_layers, n_heads = values.shape
    # With letters: Plotly would read a label that is a number as the position of a tick.
    rows, columns = [short_layer(i + 1) for i in range(n_layers)], [short_head(i + 1) for i in range(n_heads)]
    figure = heatmap(
        values,
        x=columns,
        y=rows,
        x_title="head",
        y_title="layer",
        span=span,
        height=140 + 40 * n_layers,
    )
    words = [[fixed(float(value), decimals) if np.isfinite(value) else "" for value in line] for line in values]
    if clear is not None:
        words = [
            [word if sure else f"({word})" for word, sure in zip(line, marks, strict=True)]
            for line, marks in zip(words, clear, strict=True)
        ]
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    caption = _extremes(values, kind, title, decimals)
    if clear is not None:
        caption += " In brackets: not distinguishable from zero."
    if baseline is not None and np.isfinite(baseline):
        caption += f" Uniform attention: {baseline:.{decimals}f}."
    table: dict[str, list[Any]] = {"layer": [i + 1 for i in range(n_layers)]}
    table |= {short_head(j + 1): [_number(value, decimals) for value in values[:, j]] for j in range(n_heads)}
    return Plot(figure, caption, f"{kind.capitalize()}", table)


def _extremes(values: Scores, kind: str, title: str, decimals: int) -> str:
    if not np.isfinite(values).any():
        return f"{title.capitalize()} is not known for {kind} heads on this sample."
    high, low = (np.unravel_index(int(extreme(values)), values.shape) for extreme in (np.nanargmax, np.nanargmin))
    highest, lowest = (index_name(int(layer), int(head)) for layer, head in (high, low))
    return (
        f"{title.capitalize()}: highest in {highest} ({fixed(float(values[high]), decimals)}), lowest in "
        f"{lowest} ({fixed(float(values[low]), decimals)})."
    )


def _number(value: float, decimals: int) -> float | None:
    return rounded(float(value), decimals)


def similarity_plot(places: Scores, similarity: Scores, names: Sequence[str], roles: Sequence[str]) -> Plot:
    """Heads of one kind in a plane, [head, 2]: similar heads lie together; symbols show their roles."""
    symbols = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
    figure = go.Figure(
        layout=go.Layout(
            height=400,
            margin=margin(top=legend_room(list(dict.fromkeys(roles)), 800)),
            xaxis={"title": {"text": "first axis (√bits)", "standoff": 10}},
            yaxis={"title": {"text": "second axis (√bits)", "standoff": 14}, "scaleanchor": "x"},
            legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        )
    )
    for i, role in enumerate(dict.fromkeys(roles)):
        chosen = [j for j, other in enumerate(roles) if other == role]
        figure.add_trace(
            go.Scatter(
                x=places[chosen, 0],
                y=places[chosen, 1],
                text=[names[j] for j in chosen],
                name=label(role),
                mode="markers+text",
                textposition="top center",
                marker={"size": 11, "symbol": symbols[i % len(symbols)]},
                hovertemplate=f"%{{text}}: {label(role)}<extra></extra>",
            )
        )
    pairs = [(float(similarity[i, j]), i, j) for i in range(len(names)) for j in range(i)]
    if pairs and np.isfinite(similarity).all():
        near, far = min(pairs), max(pairs)
        caption = (
            f"The closer two heads, the more similar their rows (Jensen–Shannon divergence: 0 is equal, 1 has nothing "
            f"in common). Most similar: {names[near[2]]} and {names[near[1]]} ({near[0]:.2f} bits); least similar: "
            f"{names[far[2]]} and {names[far[1]]} ({far[0]:.2f} bits)."
        )
    else:
        caption = "There are no two heads to compare."
    table: dict[str, list[Any]] = {"head": list(names), "role": list(roles)}
    table |= {name: [_number(value, 3) for value in similarity[:, i]] for i, name in enumerate(names)}
    return Plot(figure, caption, "Similar heads", table)


def head_plot(
    weights: NDArray[np.float32],
    mask: NDArray[np.uint8],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: str,
    caption: str,
) -> Plot:
    """One head [query, key] over one sentence; masked cells stay empty."""
    values = np.where(mask == 0, weights, np.nan)
    titles = {
        "encoder": ("source (key)", "source (query)"),
        "decoder": ("decoder has read (key)", "decoder reads (query)"),
        "cross": ("source (key)", "decoder reads (query)"),
    }[kind]
    figure = heatmap(
        values,
        x=labels(columns),
        y=labels(rows),
        x_title=titles[0],
        y_title=titles[1],
        height=150 + 22 * len(rows),
    )
    table: dict[str, list[Any]] = {"query": numbered(rows)}
    table |= {name: [_number(value, 4) for value in values[:, j].tolist()] for j, name in enumerate(numbered(columns))}
    return Plot(figure, caption, "", table)


def coverage_plot(total: Scores, tokens: Sequence[str], caption: str) -> Plot:
    """The attention that each source token received over the whole translation, [src], and the mean."""
    figure = bars({"coverage": total.tolist()}, tokens, y_title="weight over all rows", height=230)
    rule(figure, y=float(total.mean()), text="even")
    table: dict[str, list[Any]] = {"source": numbered(tokens), "coverage": [round(float(v), 4) for v in total]}
    return Plot(figure, caption, "Coverage of the source", table)


def source_share_plot(shares: Scores, on_end: Scores, predicted: Sequence[str], caption: str) -> Plot:
    """The share of each prediction that comes from the source, beside the weight on <eos>, both [tgt]."""
    series = {"comes from the source": shares.tolist(), "weight on <eos>": on_end.tolist()}
    figure = bars(series, predicted, y_title="share", height=250)
    table: dict[str, list[Any]] = {"predicts": numbered(predicted)}
    table |= {name: [round(float(value), 4) for value in values] for name, values in series.items()}
    return Plot(figure, caption, "", table)


def pruning_plot(
    counts: Sequence[int],
    series: dict[str, Sequence[float]],
    caption: str,
    interval: tuple[list[float], list[float]] | None = None,
) -> Plot:
    """The quality that remains, in percent of the whole model's, against the number of heads switched off.

    `interval`: low and high ends for the first series, drawn as error bars.
    """
    figure = curves(
        {name: (np.array(counts), np.array(values)) for name, values in series.items()},
        x_title="heads switched off, least important first",
        y_title="remaining quality (%)",
        dots=True,
    )
    figure.update_yaxes(rangemode="tozero")
    first = next(iter(series))
    ends: dict[str, list[Any]] = {}
    if interval is not None:
        low, high = interval
        values = series[first]
        figure.data[0].error_y = {
            "type": "data",
            "symmetric": False,
            "array": [end - value for end, value in zip(high, values, strict=True)],
            "arrayminus": [value - end for end, value in zip(low, values, strict=True)],
        }
        ends = {
            f"{first}, {name} (%)": [rounded(end, 1) for end in part] for name, part in (("low", low), ("high", high))
        }
    table: dict[str, list[Any]] = {"heads switched off": list(counts)} | ends
    table |= {f"{name} (%)": [round(value, 1) for value in values] for name, values in series.items()}
    return Plot(figure, caption, "Quality with heads switched off", table)
