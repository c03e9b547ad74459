"""A single attention map as a Plotly heatmap; masked cells look different from zeros, differences have two colours."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from explorer.charts.chart import GREY
from explorer.decoding.labelled_map import LabelledMap
from explorer.locale.text import cell_number, shortened
from model.trace import FUTURE, PADDING, VISIBLE

if TYPE_CHECKING:
    import plotly.graph_objects as go

NUMBERS_UP_TO = 225  # cells; in larger maps the numbers do not fit
NUMBERS_ACROSS, NUMBERS_ACROSS_WIDE = 10, 15  # columns, in half the page width and in all of it
LEAST_HIGH = 290  # pixels; the title of the query axis needs this much
FEW = 2  # rows; a map of so few is low, and its query axis is named below it
BELOW_ONE = 0.9  # room below a single row, in rows
TICKS_UP_TO = 80
# Blue below zero, orange above, neutral grey at zero; readable on white and on black.
DIVERGING = [[0.0, "#2a6da3"], [0.25, "#8fb8d9"], [0.5, "#d9dde1"], [0.75, "#efb178"], [1.0, "#bf641c"]]

# Why a cell is masked, as the sign in it: ╱ and ╳.
_SIGNS = {FUTURE: "line-ne", PADDING: "x-thin"}


def map_figure(shown: LabelledMap, *, wide: bool = False, numbers: bool = True) -> go.Figure:
    """The heatmap with query 1 in the top row, key labels above and titled axes.

    The cells have `numbers` if they fit into half of the page's width, or into all of it if the map is `wide`.
    """
    import plotly.graph_objects as go  # takes half a second, which only pages with such a map should pay for

    n_rows, n_columns = shown.values.shape
    seen = shown.seen()
    across = NUMBERS_ACROSS_WIDE if wide else NUMBERS_ACROSS
    numbers = numbers and shown.values.size <= NUMBERS_UP_TO and n_columns <= across
    scale = {"colorscale": DIVERGING, "zmid": 0} if shown.signed else {}
    figure = go.Figure(
        go.Heatmap(
            z=seen,
            zmin=-shown.scale if shown.signed else 0,
            zmax=shown.scale,
            customdata=[[[row, column] for column in _safe(shown.column_labels)] for row in _safe(shown.row_labels)],
            hovertemplate=f"%{{customdata[0]}} → %{{customdata[1]}}<br>{shown.unit} %{{z:.4f}}<extra></extra>",
            text=[[cell_number(value, signed=shown.signed) for value in row] for row in seen] if numbers else None,
            texttemplate="%{text}" if numbers else None,
            hoverongaps=False,
            colorbar={"title": {"text": shown.unit, "side": "right"}, "thickness": 12, "len": 1, "outlinewidth": 0},
            **scale,
        )
    )
    closed = [(int(row), int(column)) for row, column in zip(*(shown.mask != VISIBLE).nonzero(), strict=True)]
    if closed:
        # Masked cells have their own background and mark, so that they are not mistaken for small weights.
        ground = "rgba(125,136,147,0.2)"
        figure.add_heatmap(
            z=[[1 if code != VISIBLE else None for code in codes] for codes in shown.mask],
            colorscale=[[0, ground], [1, ground]],
            showscale=False,
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[column for _, column in closed],
            y=[row for row, _ in closed],
            mode="markers",
            marker={
                "symbol": [_SIGNS[int(shown.mask[cell])] for cell in closed],
                "size": 6,
                "line": {"color": GREY, "width": 1},
            },
            hovertext=[f"masked: {'future' if shown.mask[cell] == FUTURE else 'padding'}" for cell in closed],
            hoverinfo="text",
            showlegend=False,
        )
    _axes(figure, shown)
    figure.update_layout(
        margin={"l": 10, "r": 10, "t": 10, "b": 30 if n_rows <= FEW else 10},
        height=150 + 44 * n_rows if n_rows <= FEW else min(640, max(LEAST_HIGH, 120 + 26 * n_rows)),
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False if n_columns * n_rows <= NUMBERS_UP_TO else "zoom",
    )
    return figure


def _axes(figure: go.Figure, shown: LabelledMap) -> None:
    rows, columns = _safe(shown.row_labels), _safe(shown.column_labels)
    if shown.predicted:
        rows = [f"{row} → {html.escape(token)}" for row, token in zip(rows, shown.predicted, strict=True)]
    for axis, labels, title in (
        (figure.update_xaxes, columns, shown.column_title),
        (figure.update_yaxes, rows, shown.row_title),
    ):
        stride = -(-len(labels) // TICKS_UP_TO)
        axis(
            title_text=title,
            tickvals=list(range(0, len(labels), stride)),
            ticktext=[_short(label) for label in labels[::stride]],
            showgrid=False,
            zeroline=False,
        )
    if len(rows) <= FEW:
        figure.update_yaxes(title_text="")
        figure.add_annotation(
            text=f"row: {shown.row_title}",
            xref="paper",
            yref="paper",
            x=0,
            y=BELOW_ONE / (1 + BELOW_ONE) if len(rows) == 1 else 0,
            yshift=-8,
            xanchor="left",
            yanchor="top",
            showarrow=False,
        )
    figure.update_xaxes(side="top", tickangle=-45 if len(columns) > 4 else 0, range=[-0.5, len(columns) - 0.5])
    # A single row would be drawn as a strip of tall cells: it has room below it, where its axis is named.
    figure.update_yaxes(range=[len(rows) - 0.5 + (BELOW_ONE if len(rows) == 1 else 0), -0.5])


def _safe(labels: tuple[str, ...]) -> list[str]:
    """Labels escaped: Plotly reads them as HTML, in which <sos> would disappear."""
    return [html.escape(label) for label in labels]


def _short(label: str) -> str:
    return html.escape(shortened(html.unescape(label), 28))
