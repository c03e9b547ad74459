"""All heads of one kind at a glance: each head's mean map as a thumbnail, framed and lettered by its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.attention.names import index_name, short_head, short_layer
from explorer.figures.plotly_charts import COLOURS, Plot, label
from explorer.probing.relative_maps import BINS
from explorer.probing.roles import LETTERS, Role
from explorer.text import listed, percent
from model.config import AttentionKind
from model.points import Head

Scores = NDArray[np.float64]
Roles = Mapping[tuple[int, int], Role]

THUMBNAILS = (
    "Each thumbnail is a head's mean map over the sample: queries from top to bottom and keys from left to right, by "
    "how far along the sentence they are. The letters and the frame show the role; a dotted frame means no clear role."
)
_GAP = 3  # empty cells between two thumbnails
_TILE = BINS + _GAP
_PIXELS, _PIXELS_SMALL = 78, 58  # of a thumbnail, from top to bottom


def role_grid(
    maps: Scores,
    roles: Roles,
    kind: str,
    marks: Mapping[tuple[int, int], str] | None = None,
    *,
    small: bool = False,
) -> Plot:
    """Thumbnails in a grid of layer × head; a click on one chooses it (its `customdata` is layer and head, from 0).

    Shapes: maps [layer, head, bin, bin], see :mod:`explorer.probing.relative_maps`. A head's role shows in the letters
    above its thumbnail and in the colour of the frame; a head without a role has a thin dotted frame and no letters.
    `marks` are words written on some thumbnails, such as what has been done to the head.
    """
    pixels = _PIXELS_SMALL if small else _PIXELS
    n_layers, n_heads = maps.shape[:2]
    canvas = np.full((n_layers * _TILE, n_heads * _TILE), np.nan)
    for layer, head in np.ndindex(n_layers, n_heads):
        top, left = layer * _TILE + _GAP, head * _TILE
        canvas[top : top + BINS, left : left + BINS] = maps[layer, head]
    most = float(np.nanmax(maps)) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=canvas.astype(np.float32),
            zmin=0.0,
            zmax=most,
            hoverinfo="skip",
            colorbar={"orientation": "h", "thickness": 8, "y": 0, "yanchor": "top", "title": {"text": ""}},
        ),
        _layout(n_layers, n_heads, pixels),
    )
    figure.add_trace(_targets(roles, n_layers, n_heads, pixels))
    # All at once: Plotly checks every shape again when another one is added.
    letters = [_letters(role, *place) for place, role in roles.items() if role.clear]
    words = [_mark(words, *place) for place, words in (marks or {}).items()]
    figure.update_layout(shapes=[_frame(role, *place) for place, role in roles.items()], annotations=letters + words)
    return Plot(figure, _caption(maps, roles, kind, most), kind.capitalize(), _table(roles))


def _layout(n_layers: int, n_heads: int, pixels: int) -> go.Layout:
    middle = (BINS - 1) / 2
    return go.Layout(
        height=100 + (pixels + 16) * n_layers,
        margin={"l": 52, "r": 6, "t": 46, "b": 40, "autoexpand": False},
        showlegend=False,
        clickmode="event+select",
        dragmode=False,
        xaxis={
            "side": "top",
            "title": {"text": "head", "standoff": 4},
            "tickvals": [head * _TILE + middle for head in range(n_heads)],
            "ticktext": [short_head(head + 1) for head in range(n_heads)],
            "range": [-1, n_heads * _TILE - _GAP + 1],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis={
            "range": [n_layers * _TILE + 0.5, -0.5],
            "title": {"text": "layer", "standoff": 4},
            "tickvals": [layer * _TILE + _GAP + middle for layer in range(n_layers)],
            "ticktext": [short_layer(layer + 1) for layer in range(n_layers)],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )


def _targets(roles: Roles, n_layers: int, n_heads: int, pixels: int) -> go.Scatter:
    """What a click hits: a square over each thumbnail, with the role's letters above it."""
    places = list(np.ndindex(n_layers, n_heads))
    middle = (BINS - 1) / 2
    return go.Scatter(
        x=[head * _TILE + middle for _, head in places],
        y=[layer * _TILE + _GAP + middle for layer, _ in places],
        mode="markers",
        marker={"size": pixels * 0.8, "symbol": "square", "opacity": 0.01, "color": COLOURS[0]},
        selected={"marker": {"opacity": 0.2}},
        unselected={"marker": {"opacity": 0.01}},
        customdata=[list(place) for place in places],
        text=[f"{index_name(*place)}: {roles[place].name}" for place in places],
        hovertemplate="%{text}<extra></extra>",
    )


def _frame(role: Role, layer: int, head: int) -> dict[str, Any]:
    """The frame of a thumbnail, in the colour of its head's role."""
    left, top = head * _TILE - 0.5, layer * _TILE + _GAP - 0.5
    colour = "#8a94a0"
    if role.clear:  # one colour for a role in all kinds; roles are more than colours, so the letters tell them apart
        colour = COLOURS[list(LETTERS).index(role.name.split(" + ")[-1]) % len(COLOURS)]
    return {
        "type": "rect",
        "x0": left,
        "x1": left + BINS,
        "y0": top,
        "y1": top + BINS,
        "line": {"color": colour, "width": 3 if role.clear else 1, "dash": "solid" if role.clear else "dot"},
    }


def _letters(role: Role, layer: int, head: int) -> dict[str, Any]:
    """The letters of a role, above the thumbnail's left corner."""
    return {
        "x": head * _TILE - 0.5,
        "y": layer * _TILE + _GAP - 0.7,
        "text": f"<b>{label(role.letters)}</b>",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 12},
    }


def _mark(words: str, layer: int, head: int) -> dict[str, Any]:
    """Words on a thumbnail, on a dark ground that is readable over any map and in both themes."""
    middle = (BINS - 1) / 2
    return {
        "x": head * _TILE + middle,
        "y": layer * _TILE + _GAP + middle,
        "text": f"<b>{label(words)}</b>",
        "showarrow": False,
        "font": {"size": 12, "color": "#ffffff"},
        "bgcolor": "#1d2733",
        "bordercolor": "#ffffff",
        "borderpad": 2,
    }


def _caption(maps: Scores, roles: Roles, kind: str, most: float) -> str:
    clear = {place: role for place, role in roles.items() if role.clear}
    letters = {part: LETTERS[part] for role in clear.values() for part in role.name.split(" + ")}
    named = listed(f"{short} = {name}" for name, short in letters.items())
    layer, head, row, column = np.unravel_index(int(np.nanargmax(maps)), maps.shape)
    strongest = index_name(int(layer), int(head))
    return (
        f"{len(clear)} of {len(roles)} {kind} heads have a clear role{f' ({named})' if named else ''}. The largest "
        f"cell ({percent(most)} of the weight) is in {strongest}, "
        f"{percent((row + 0.5) / BINS)} down and {percent((column + 0.5) / BINS)} across."
    )


def _table(roles: Roles) -> dict[str, list[Any]]:
    return {
        "head": [index_name(*place) for place in roles],
        "role": [role.name for role in roles.values()],
        "letters": [role.letters for role in roles.values()],
    }


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
