"""Figures of the Probe page: layer × head maps, heads in a plane, one head's rows, pruning and patches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from explorer.probing.cross_checks import SentenceSources
from explorer.probing.formulas import coverage, head_map
from explorer.probing.head_card import coverage_caption
from explorer.probing.patching import Patched, Stack, point_names
from explorer.probing.roles import Role
from model.config import AttentionKind
from model.points import Head
from model.trace import VISIBLE, AttentionTrace

Scores = NDArray[np.float64]
Marks = NDArray[np.bool_]


def layer_head_map(
    values: Scores,
    kind: str,
    title: str,
    *,
    span: tuple[float, float],
    baseline: float | None = None,
    decimals: int = 2,
    clear: Marks | None = None,
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
    sure = np.ones(values.shape, dtype=np.bool_) if clear is None else clear
    words = [
        [_word(value, decimals, clear) for value, clear in zip(*line, strict=True)]
        for line in zip(values, sure, strict=True)
    ]
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    caption = _extremes(values, kind, title, decimals)
    if clear is not None:
        caption += " In brackets: not distinguishable from zero."
    if baseline is not None and np.isfinite(baseline):
        caption += f" Uniform attention: {baseline:.{decimals}f}."
    table: dict[str, list[Any]] = {"layer": [i + 1 for i in range(n_layers)]}
    table |= {short_head(j + 1): [rounded(float(value), decimals) for value in values[:, j]] for j in range(n_heads)}
    return Plot(figure, caption, f"{kind.capitalize()}", table)


def _word(value: float, decimals: int, clear: bool) -> str:
    word = fixed(float(value), decimals) if np.isfinite(value) else ""
    return word if clear else f"({word})"


def _extremes(values: Scores, kind: str, title: str, decimals: int) -> str:
    if not np.isfinite(values).any():
        return f"{title.capitalize()} is not known for {kind} heads on this sample."
    high, low = (np.unravel_index(int(extreme(values)), values.shape) for extreme in (np.nanargmax, np.nanargmin))
    highest, lowest = (index_name(int(layer), int(head)) for layer, head in (high, low))
    return (
        f"{title.capitalize()}: highest in {highest} ({fixed(float(values[high]), decimals)}), lowest in "
        f"{lowest} ({fixed(float(values[low]), decimals)})."
    )


def similarity_plot(similarity: Scores, names: Sequence[str], roles: Sequence[str]) -> Plot:
    """Heads of one kind in a plane: similar heads lie together; symbols show their roles. `similarity` [head, head]."""
    places = head_map(similarity)
    shapes = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
    groups = {}
    for i, role in enumerate(dict.fromkeys(roles)):
        chosen = [j for j, other in enumerate(roles) if other == role]
        style = {
            "name": label(role),
            "marker": {"size": 11, "symbol": shapes[i % len(shapes)]},
            "hovertemplate": f"%{{text}}: {label(role)}<extra></extra>",
        }
        groups[role] = places[chosen, 0], places[chosen, 1], [names[j] for j in chosen], style
    room = margin(top=legend_room(list(groups), 800))
    figure = _scatter(groups, ("first axis (√bits)", "second axis (√bits)"), height=400, margin=room)
    figure.update_yaxes(scaleanchor="x")
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
    table |= {name: [rounded(float(value), 3) for value in similarity[:, i]] for i, name in enumerate(names)}
    return Plot(figure, caption, "Similar heads", table)


def score_scatter(
    x: Mapping[AttentionKind, Scores],
    y: Mapping[AttentionKind, Scores],
    titles: tuple[str, str],
    roles: Mapping[Head, Role],
) -> Plot:
    """One score of every head against another, a symbol for each kind; x and y by kind, [layer, head]."""
    symbols: dict[AttentionKind, str] = {"encoder": "circle", "decoder": "square", "cross": "diamond"}
    groups: dict[str, tuple[Any, ...]] = {}
    rows: list[tuple[Any, ...]] = []
    for kind in (kind for kind in symbols if kind in x and kind in y):
        places = [place for place in np.ndindex(x[kind].shape) if np.isfinite(x[kind][place] + y[kind][place])]
        values = [[float(scores[kind][place]) for place in places] for scores in (x, y)]
        names, of = [index_name(*place) for place in places], [roles[kind, *place].name for place in places]
        style = {
            "name": kind,
            "customdata": [label(role) for role in of],
            "marker": {"size": 10, "symbol": symbols[kind]},
            "hovertemplate": "%{text}: %{customdata}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
        }
        groups[kind] = *values, names, style
        rows += zip([kind] * len(names), names, of, *values, strict=True)
    figure = _scatter(groups, titles, height=420, margin=margin(top=40))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    table: dict[str, list[Any]] = {
        "kind": list(columns[0]),
        "head": list(columns[1]),
        "role": list(columns[2]),
        titles[0]: [round(value, 4) for value in columns[3]],
        titles[1]: [round(value, 4) for value in columns[4]],
    }
    return Plot(figure, _correlation([row[3:] for row in rows], titles), "", table)


def _scatter(groups: Mapping[str, tuple[Any, ...]], titles: tuple[str, str], **layout: Any) -> go.Figure:
    """Named points in a plane by group: x, y, names and style of each."""
    figure = go.Figure(
        layout=go.Layout(
            xaxis={"title": {"text": titles[0], "standoff": 10}},
            yaxis={"title": {"text": titles[1], "standoff": 14}},
            legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
            **layout,
        )
    )
    for x, y, names, style in groups.values():
        figure.add_trace(go.Scatter(x=x, y=y, text=names, mode="markers+text", textposition="top center", **style))
    return figure


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


def head_plot(trace: AttentionTrace, values: NDArray[np.float32], *, kind: AttentionKind, caption: str) -> Plot:
    """The map [query, key] of a head or a layer over one sentence; masked cells stay empty."""
    rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
    columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
    visible = np.where(trace.mask(kind) == VISIBLE, values, np.nan)
    figure = heatmap(
        visible,
        x=labels(columns),
        y=labels(rows),
        x_title="decoder has read (key)" if kind == "decoder" else "source (key)",
        y_title="source (query)" if kind == "encoder" else "decoder reads (query)",
        height=150 + 22 * len(rows),
    )
    table: dict[str, list[Any]] = {"query": numbered(rows)}
    table |= {name: [rounded(v, 4) for v in visible[:, j].tolist()] for j, name in enumerate(numbered(columns))}
    return Plot(figure, caption, "", table)


def coverage_plot(weights: NDArray[np.floating], tokens: Sequence[str]) -> Plot:
    """The attention that each source token received over the whole translation, and the mean; weights [query, key]."""
    total = coverage(weights)
    figure = bars({"coverage": total.tolist()}, tokens, y_title="weight over all rows", height=230)
    rule(figure, y=float(total.mean()), text="even")
    table: dict[str, list[Any]] = {"source": numbered(tokens), "coverage": [round(float(v), 4) for v in total]}
    return Plot(figure, coverage_caption(weights, tokens), "Coverage of the source", table)


def source_share_plot(sources: SentenceSources) -> Plot:
    """The share of each prediction that comes from the source, beside the weight on <eos>."""
    series = {"comes from the source": sources.shares.tolist(), "weight on <eos>": sources.on_end.tolist()}
    figure = bars(series, sources.words, y_title="share", height=250)
    table: dict[str, list[Any]] = {"predicts": numbered(sources.words)}
    table |= {name: [round(float(value), 4) for value in values] for name, values in series.items()}
    return Plot(figure, sources.caption(), "", table)


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


_TITLES: dict[Stack, str] = {"encoder": "Source side", "decoder": "Target side"}


def patch_plot(found: Patched, stack: Stack) -> Plot:
    """One stack: how the log-probability of the predicted token changes with the vector at each place replaced."""
    change = found.change(stack)
    top = max(float(np.abs(found.change(each)).max()) for each in _TITLES) or 1e-9
    rows, columns = point_names(len(change)), found.columns(stack)
    figure = heatmap(
        change,
        x=labels(columns),
        y=rows,
        x_title="source token (← of the other sentence)" if stack == "encoder" else "decoder has read",
        y_title="output of layer",
        span=(-top, top),
        scale_title="nats",
        height=200 + 30 * len(rows),
    )
    words = [[fixed(float(value), 1, signed=True) for value in line] for line in change]
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    table: dict[str, list[Any]] = {"position": numbered(columns)}
    for name, values, instead in zip(rows, change, found.instead[stack], strict=True):
        table[f"{name}: change (nats)"] = [rounded(float(value), 3) for value in values]
        table[f"{name}: likeliest"] = list(instead)
    return Plot(figure, found.caption(stack), _TITLES[stack], table)
