"""Plotly figures of one look: heatmaps and curves with their caption and their numbers as a table.

Colours come from the theme when the figure is drawn: curves take its categorical colours, and heatmaps its sequential
or, around zero, its diverging scale. Labels that people typed go through :func:`label`, since Plotly reads markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

HEIGHT = 340
# Streamlit puts the theme's categorical colours in place of these; Plotly's own would not change with the theme.
COLOURS = tuple(f"#{i:06d}" for i in range(1, 9))
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
Numbers = Sequence[float] | NDArray[Any]
Columns = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Plot:
    """A Plotly figure, a sentence that says what there is to see, and the numbers in it by column."""

    figure: go.Figure
    caption: str
    title: str = ""
    table: Columns = field(default_factory=dict)


def label(text: str) -> str:
    """`text` as Plotly shows it letter by letter."""
    return escape(text, quote=False)


def labels(tokens: Sequence[str]) -> list[str]:
    """Tokens with their positions from 1, so that repeated ones stay apart."""
    return [label(f"{i} {token}") for i, token in enumerate(tokens, start=1)]


def numbered(tokens: Sequence[str]) -> list[str]:
    """The same for tables, which show every character as it is."""
    return [f"{i} {token}" for i, token in enumerate(tokens, start=1)]


def _layout(height: int, x_title: str, y_title: str, **more: Any) -> go.Layout:
    return go.Layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"title": {"text": x_title}, "automargin": True},
        yaxis={"title": {"text": y_title}, "automargin": True},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        **more,
    )


def heatmap(
    values: NDArray[Any],
    *,
    x_title: str,
    y_title: str,
    x: Sequence[Any] | None = None,
    y: Sequence[Any] | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    scale_title: str = "",
    hover: NDArray[Any] | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Values [row, column] with row 0 on top; a span that begins below 0 takes the diverging scale.

    Cells that are not numbers stay empty; `hover` [row, column] are words to say about each cell.
    """
    words = "%{y}, %{x}: %{z:.3~f}" if hover is None else "%{y}, %{x}: %{customdata}"
    trace = go.Heatmap(
        z=values.astype(np.float32),
        x=x,
        y=y,
        zmin=span[0],
        zmax=span[1],
        autocolorscale=span[0] < 0,  # the diverging scale of the theme; otherwise the template's, the sequential one
        colorbar={"title": {"text": scale_title}, "thickness": 12},
        customdata=hover,
        hovertemplate=words + "<extra></extra>",
        xgap=1 if values.shape[-1] <= 40 else 0,
        ygap=1 if values.shape[0] <= 40 else 0,
    )
    made = go.Figure(trace, _layout(height, x_title, y_title))
    made.update_yaxes(autorange="reversed", showgrid=False)
    made.update_xaxes(side="top", showgrid=False)
    if x is not None and y is not None:  # tokens: every one is named, in its own row
        made.update_xaxes(type="category", tickmode="array", tickvals=list(range(len(x))), ticktext=list(x))
        made.update_yaxes(type="category", tickmode="array", tickvals=list(range(len(y))), ticktext=list(y))
    return made


def curves(
    series: Mapping[str, tuple[Numbers, Numbers]],
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    dots: bool = False,
    height: int = HEIGHT,
) -> go.Figure:
    """Curves by name; dashes as well as colours tell them apart."""
    made = go.Figure(layout=_layout(height, x_title, y_title, hovermode="x unified"))
    for i, (name, (x, y)) in enumerate(series.items()):
        made.add_trace(
            go.Scatter(
                x=np.asarray(x),
                y=np.asarray(y),
                name=label(name),
                mode="lines+markers" if dots else "lines",
                line={"dash": DASHES[i % len(DASHES)], "width": 2, "color": COLOURS[i % len(COLOURS)]},
                showlegend=len(series) > 1,
            )
        )
    if log:
        made.update_yaxes(type="log")
    return made


def rule(figure: go.Figure, *, x: float | None = None, y: float | None = None, text: str = "") -> go.Figure:
    """Add a dashed line at `x` or `y` with a few words."""
    if x is not None:
        figure.add_vline(x=x, line_dash="dash", line_color="#7d8893", annotation_text=label(text))
    if y is not None:
        figure.add_hline(y=y, line_dash="dash", line_color="#7d8893", annotation_text=label(text))
    return figure
