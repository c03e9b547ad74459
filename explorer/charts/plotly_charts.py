"""Building blocks of all Plotly figures: heatmaps, curves and bars of one style, with a caption and a table of numbers.

Streamlit takes the colours from the theme when it draws the figure: categorical colours for curves, the sequential
scale for heatmaps, and the diverging scale for values around zero. Plotly reads labels as HTML, so text that users
typed goes through :func:`label`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.palette import THEME
from explorer.decoding.names import numbered
from explorer.locale.scripts import columns_of, direction, is_leftwards, places, shortened

HEIGHT = 340
MOST_SLANTED = 10  # column names that fit at 45 degrees, even in a narrow figure
MOST_LETTERS = 24  # characters of a token in a tick label; the table has the whole token
_LETTER, _LINE = 6.5, 22  # width of a character and height of a line, in pixels
_LEGEND = 380  # width of a legend, in pixels
_TIGHT = 11.5  # distance of tick labels in pixels, below which they touch
# Streamlit replaces these by the theme's categorical colours.
NO_BAR = 14  # right margin in pixels of a map without a colour bar
COLOURS = tuple(f"#{i:06d}" for i in range(1, 9))
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
PATTERNS = ("", "/", ".", "x")
Numbers = Sequence[float] | NDArray[Any]
Columns = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Plot:
    """A Plotly figure, a caption computed from its data, and its numbers by column."""

    figure: go.Figure
    caption: str
    title: str = ""
    table: Columns = field(default_factory=dict)


def label(text: str) -> str:
    """Escape `text`, so that Plotly shows exactly these characters."""
    return escape(text, quote=False)


def labels(tokens: Sequence[str], first: int = 1) -> list[str]:
    """Make axis labels: tokens with their positions, counted from `first`, so that repeated tokens stay apart."""
    return [label(text) for text in numbered(tokens, first=first)]


def margin(*, left: int = 64, right: int = 14, top: int = 14, bottom: int = 50) -> dict[str, Any]:
    """Margins for axes and legend in pixels, as the `margin` of a layout.

    Plotly could compute them (automargin), but would then lay out every figure twice, which makes sliders slower.
    """
    return {"l": left, "r": right, "t": top, "b": bottom, "autoexpand": False}


def width_of(text: str) -> int:
    """Estimate the width of a text in pixels."""
    return round(columns_of(text) * _LETTER)


def legend_room(names: Sequence[str]) -> int:
    """The top margin in pixels for a horizontal legend, or for no legend with fewer than two names."""
    if len(names) < 2:
        return 14
    rows, used = 1, 0
    for name in names:
        entry = width_of(name) + 55
        rows, used = (rows, used + entry) if used + entry <= _LEGEND else (rows + 1, entry)
    return 10 + _LINE * rows


def _layout(
    height: int, x_axis: Mapping[str, Any], y_axis: Mapping[str, Any], room: Mapping[str, Any], **more: Any
) -> go.Layout:
    return go.Layout(
        height=height,
        margin=room,
        xaxis={"automargin": False, **x_axis},
        yaxis={"automargin": False, **y_axis},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        **more,
    )


def _x_title(text: str) -> dict[str, Any]:
    return {"title": {"text": text, "standoff": 10}}


def _y_title(text: str) -> dict[str, Any]:
    return {"title": {"text": text, "standoff": 14}}


def heatmap(
    values: NDArray[Any],
    *,
    x_title: str,
    y_title: str,
    x: Sequence[Any] | None = None,
    y: Sequence[Any] | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    scale_title: str = "",
    height: int = HEIGHT,
    width: int = 480,
    beside: Sequence[Sequence[str]] = (),
) -> go.Figure:
    """Draw values, [row, column], with row 0 on top; a span that begins below 0 uses the diverging colour scale.

    NaN cells stay empty. `width` is that of the figure in pixels on a small screen, by which tick labels are thinned
    out so that they do not touch. `beside`: the column names of maps side by side, written at one angle.
    """
    trace = go.Heatmap(
        z=values.astype(np.float32),
        x=x,
        y=y,
        zmin=span[0],
        zmax=span[1],
        autocolorscale=span[0] < 0,  # True: the theme's diverging scale; False: its sequential one
        colorbar={"title": {"text": scale_title}, "thickness": 12},
        hovertemplate="%{y}, %{x}: %{z:.3~f}<extra></extra>",
        xgap=1 if values.shape[-1] <= 40 else 0,
        ygap=1 if values.shape[0] <= 40 else 0,
    )
    room = margin(right=76, top=56, bottom=10)
    x_axis: dict[str, Any] = {**_x_title(x_title), "side": "top", "showgrid": False}
    y_axis: dict[str, Any] = {**_y_title(y_title), "autorange": "reversed", "showgrid": False}
    if x is not None and y is not None:  # tokens: one tick label each
        left, angle, top = 50 + _widest(y), *above(x, *beside)
        room |= {"l": left, "t": top}
        across = _in_places(x, [unescape(name).split(" ", 1)[-1] for name in x])
        x_axis |= {"type": "category", "tickangle": -angle, **names_at(across or x, width - left - room["r"])}
        x_axis |= {"categoryarray": across}
        y_axis |= {"type": "category", **names_at(y, height - top - room["b"])}
    return go.Figure(trace, _layout(height, x_axis, y_axis, room))


def inked(figure: go.Figure, *, dark: bool) -> go.Figure:
    """Write axes and scales in the theme's ink, and numbers in heatmaps in black or white, whichever stands out more.

    Plotly's own dark grey is too faint on the middle of the scales, and Streamlit's beside them.
    """
    theme = THEME["dark" if dark else "light"]
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(title_font_color=theme["textColor"], tickfont_color=theme["textColor"])
    ink = theme["textColor"]
    figure.update_traces(colorbar_tickfont_color=ink, colorbar_title_font_color=ink, selector={"type": "heatmap"})
    for cells in [trace for trace in figure.data if trace.type == "heatmap" and trace.texttemplate]:
        colours = theme["chartDivergingColors" if cells.autocolorscale else "chartSequentialColors"]
        scale = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
        at = (np.asarray(cells.z, np.float64) - cells.zmin) / (cells.zmax - cells.zmin)
        steps = np.linspace(0, 1, len(scale))
        light = sum(
            weight * np.interp(at, steps, channel) ** 2.2  # close to the relative luminance of sRGB
            for weight, channel in zip((0.2126, 0.7152, 0.0722), scale.T, strict=True)
        )
        rows, columns = np.indices(at.shape)
        words = [word for line in cells.text for word in line]
        letters = max(map(len, words)) * at.shape[1]  # across the map, which may be as narrow as a phone
        size = 12 if letters <= 34 else 10 if letters <= 45 else 8
        figure.add_scatter(
            x=[cells.x[i] for i in columns.flat],
            y=[cells.y[i] for i in rows.flat],
            text=words,
            mode="text",
            textfont={"size": size, "color": np.where(light.flat > 0.179, "black", "white").tolist()},
            hoverinfo="skip",
            showlegend=False,
        )
        cells.texttemplate = None
    return figure


def above(*maps: Sequence[str]) -> tuple[int, int]:
    """The angle of the column names of maps (0°, or 45° or 90° if they do not fit), and their top margin in pixels."""
    widest, most = max(map(_widest, maps)), max(map(len, maps))
    angle = 0 if (widest + 8) * most <= 200 else 45 if most <= MOST_SLANTED else 90
    rise = {0: 8, 45: round(0.72 * widest), 90: widest}[angle]  # the sine of 45°
    return angle, 48 + rise


def names_at(names: Sequence[str], pixels: int) -> dict[str, Any]:
    """Ticks of an axis of this length: every name, or every second, third, … so that they do not touch."""
    every = max(1, math.ceil(_TIGHT * len(names) / max(pixels, 1)))
    ticks = range(0, len(names), every)
    return {"tickmode": "array", "tickvals": list(ticks), "ticktext": [_short(names[i]) for i in ticks]}


def _widest(names: Sequence[str]) -> int:
    return max((width_of(unescape(_short(name))) for name in names), default=0)


def _short(name: str) -> str:
    return label(shortened(unescape(name), MOST_LETTERS))


def curves(
    series: Mapping[str, tuple[Numbers, Numbers]],
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    dots: bool = False,
    height: int = HEIGHT,
) -> go.Figure:
    """Draw curves by name, which differ in dashes as well as colours."""
    lines = [
        go.Scatter(
            x=np.asarray(x),
            y=np.asarray(y),
            name=label(name),
            mode="lines+markers" if dots else "lines",
            line={"dash": DASHES[i % len(DASHES)], "width": 2, "color": COLOURS[i % len(COLOURS)]},
            showlegend=len(series) > 1,
        )
        for i, (name, (x, y)) in enumerate(series.items())
    ]
    y_axis = _y_title(y_title) | ({"type": "log", "dtick": 1, "tickformat": ","} if log else {})
    room = margin(left=84 if log else 64, top=legend_room(list(series)))  # “10,000” is wide
    return go.Figure(lines, _layout(height, _x_title(x_title), y_axis, room, hovermode="x unified"))


def bars(
    series: Mapping[str, Sequence[float]],
    tokens: Sequence[str],
    *,
    y_title: str,
    top: float | None = None,
    height: int = HEIGHT,
    also: Sequence[str] = (),
) -> go.Figure:
    """Draw for each token one bar per name, side by side; names differ in patterns as well as colours.

    `also` names further bars, which are not tokens and have no position.
    """
    names = [*labels(tokens), *map(label, also)]
    widest = max((width_of(unescape(name)) for name in names), default=0)
    aslant = (widest + 8) * len(names) > 400
    bottom = 24 + (round(0.72 * widest) if aslant else _LINE)
    room = margin(top=legend_room(list(series)), bottom=bottom)
    drawn = [
        go.Bar(
            x=names,
            y=list(values),
            name=label(name),
            marker={"color": COLOURS[i], "pattern": {"shape": PATTERNS[i % len(PATTERNS)]}},
            showlegend=len(series) > 1,
        )
        for i, (name, values) in enumerate(series.items())
    ]
    x_axis = {**_x_title(""), "tickangle": -45 if aslant else 0, "type": "category"}
    x_axis |= {"categoryarray": _in_places(names, [*tokens, *also])}
    y_axis = _y_title(y_title) | ({} if top is None else {"range": [0, top]})
    return go.Figure(drawn, _layout(height, x_axis, y_axis, room, barmode="group"))


def _in_places(names: Sequence[str], tokens: Sequence[str]) -> list[str]:
    """The names of an axis from the left, if they are the words of a sentence that does not run from left to right."""
    at = places(tokens, is_leftwards(tokens), direction())
    return [name for _, name in sorted(zip(at, names, strict=bool(at)))]


def lying(figure: go.Figure) -> go.Figure:
    """Lay a figure of bars on its side, because their names are long; a name "stack: part" takes two lines."""
    lines: list[str] = []
    for bar in figure.data:
        lines = [name.replace(": ", ":<br>") for name in bar.x]
        bar.update(x=bar.y, y=lines, orientation="h")
    widest = max(width_of(unescape(part)) for name in lines for part in name.split("<br>"))
    layout = figure.layout
    figure.update_layout(
        xaxis={"title": {"text": layout.yaxis.title.text}, "type": "linear", "tickangle": 0},
        yaxis={"title": {"text": ""}, "type": "category", "autorange": "reversed"},
        margin={"l": widest + 12, "b": 50},
        legend={"xref": "container", "x": 0.02},  # over the names, too: beside them, two would not fit on a phone
    )
    return figure


def rule(figure: go.Figure, x: float, text: str) -> None:
    """Add a dashed line at `x` with a short label."""
    figure.add_vline(x=x, line_dash="dash", line_color="#7d8893", annotation_text=label(text))
