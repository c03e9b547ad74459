"""Draw a single attention map as a Plotly heatmap; masked cells differ from zeros, differences have two colours."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from explorer.charts.chart import GREY
from explorer.charts.palette import FRAME
from explorer.decoding.labelled_map import LabelledMap
from explorer.locale.text import cell_number, shortened
from model.trace import FUTURE, PADDING, VISIBLE

if TYPE_CHECKING:
    import plotly.graph_objects as go

NUMBERS_UP_TO = 225  # cells; in larger maps the numbers do not fit
NUMBERS_ACROSS, NUMBERS_ACROSS_WIDE = 10, 15  # columns with numbers, in half and in full page width
MIN_HEIGHT = 290  # pixels, which the title of the query axis needs
FEW = 2  # rows; a map with no more is low, and its query axis is named below it
BELOW_ONE = 0.9  # room below a single row, in rows
TICKS_UP_TO = 80
# Blue below zero, orange above, neutral grey at zero; readable on white and on black.
DIVERGING = [[0.0, "#2a6da3"], [0.25, "#8fb8d9"], [0.5, "#d9dde1"], [0.75, "#efb178"], [1.0, "#bf641c"]]

# The signs ╱ and ╳ in masked cells, by the reason of the mask.
_SIGNS = {FUTURE: "line-ne", PADDING: "x-thin"}


def map_figure(map_: LabelledMap, *, wide: bool = False, numbers: bool = True) -> go.Figure:
    """Draw the heatmap with query 1 in the top row, key labels above and titled axes.

    Cells contain `numbers` if these fit into half of the page width, or into all of it if the map is `wide`.
    """
    import plotly.graph_objects as go  # here, because the import takes half a second

    n_rows, n_columns = map_.values.shape
    seen = map_.seen()
    across = NUMBERS_ACROSS_WIDE if wide else NUMBERS_ACROSS
    numbers = numbers and map_.values.size <= NUMBERS_UP_TO and n_columns <= across
    scale = {"colorscale": DIVERGING, "zmid": 0} if map_.signed else {}
    figure = go.Figure(
        go.Heatmap(
            z=seen,
            zmin=-map_.scale if map_.signed else 0,
            zmax=map_.scale,
            customdata=[[[row, column] for column in _safe(map_.column_labels)] for row in _safe(map_.row_labels)],
            hovertemplate=f"%{{customdata[0]}} → %{{customdata[1]}}<br>{map_.unit} %{{z:.4f}}<extra></extra>",
            text=[[cell_number(value, signed=map_.signed) for value in row] for row in seen] if numbers else None,
            texttemplate="%{text}" if numbers else None,
            hoverongaps=False,
            colorbar={"title": {"text": map_.unit, "side": "right"}, "thickness": 12, "len": 1, "outlinewidth": 0},
            **scale,
        )
    )
    closed = [(int(row), int(column)) for row, column in zip(*(map_.mask != VISIBLE).nonzero(), strict=True)]
    if closed:
        # Masked cells have their own background and sign, so that they are not mistaken for small weights.
        ground = "rgba(125,136,147,0.2)"
        figure.add_heatmap(
            z=[[1 if code != VISIBLE else None for code in codes] for codes in map_.mask],
            colorscale=[[0, ground], [1, ground]],
            showscale=False,
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[column for _, column in closed],
            y=[row for row, _ in closed],
            mode="markers",
            marker={
                "symbol": [_SIGNS[int(map_.mask[cell])] for cell in closed],
                "size": 6,
                "line": {"color": GREY, "width": 1},
            },
            hovertext=[f"masked: {'future' if map_.mask[cell] == FUTURE else 'padding'}" for cell in closed],
            hoverinfo="text",
            showlegend=False,
        )
    for row, column in map_.marks.cells:
        box = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", line={"color": FRAME, "width": 2}, **box)
    _axes(figure, map_)
    figure.update_layout(
        margin={"l": 10, "r": 10, "t": 10, "b": 30 if n_rows <= FEW else 10},
        height=150 + 44 * n_rows if n_rows <= FEW else min(640, max(MIN_HEIGHT, 120 + 26 * n_rows)),
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False if n_columns * n_rows <= NUMBERS_UP_TO else "zoom",
    )
    return figure


def _axes(figure: go.Figure, map_: LabelledMap) -> None:
    rows, columns = map(_safe, map_.marked_labels)
    if map_.predicted:
        rows = [f"{row} → {html.escape(token)}" for row, token in zip(rows, map_.predicted, strict=True)]
    for axis, labels, title in (
        (figure.update_xaxes, columns, map_.column_title),
        (figure.update_yaxes, rows, map_.row_title),
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
            text=f"row: {map_.row_title}",
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
    # Room below a single row keeps its cells from becoming too tall; the axis is named there.
    figure.update_yaxes(range=[len(rows) - 0.5 + (BELOW_ONE if len(rows) == 1 else 0), -0.5])


def _safe(labels: tuple[str, ...]) -> list[str]:
    """Escape labels, since Plotly reads them as HTML, in which <sos> would disappear."""
    return [html.escape(label) for label in labels]


def _short(label: str) -> str:
    return html.escape(shortened(html.unescape(label), 28))
