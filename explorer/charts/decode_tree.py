"""Draw the tree of continuations with Plotly: steps run to the right, and every node is a token to click."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from explorer.charts.chart import GREY
from explorer.decoding.decode_tree import Fate, Node, Tree
from explorer.locale.messages import message, t, translated
from explorer.locale.text import shortened

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Name, symbol, colour, size and line dash of each fate, which thus differ in more than colour.
LOOKS: dict[Fate, tuple[str, str, str, int, str]] = {
    "shown": (message("on screen"), "circle", "#b4530a", 11, "solid"),
    "path": (message("a whole path"), "square", "#8a4a9e", 9, "solid"),
    "ended": (message("ended by beam search"), "diamond", "#2b8fb3", 10, "solid"),
    "kept": (message("kept by beam search"), "circle-open", "#2b8fb3", 9, "solid"),
    "pruned": (message("dropped"), "x-thin-open", GREY, 7, "dot"),
}
LABELS_UP_TO = 120  # nodes; more labels would overlap
ROOM, LETTER = 900, 7  # pixels: the width of the tree on a laptop, and of a character; labels are cut to fit
ROW, MIN_ROW, MAX_HEIGHT = 32, 20, 1360  # pixels: a row, a row at least (with labels), and the tree at most


def tree_figure(tree: Tree) -> go.Figure:
    """Draw nodes by step and row, with an edge to each parent; `customdata` is the index of a node in the tree."""
    import plotly.graph_objects as go

    figure = go.Figure()
    rows = {node.path: node.row for node in tree.nodes}
    deepest, lowest = max(len(node.path) for node in tree.nodes), max(rows.values())
    letters = min(14, max(3, ROOM // (deepest + 1) // LETTER))
    all_named = len(tree.nodes) <= LABELS_UP_TO
    for fate, (name, symbol, colour, size, dash) in LOOKS.items():
        chosen = [(i, node) for i, node in enumerate(tree.nodes) if node.fate == fate]
        if not chosen:
            continue
        xs: list[float | None] = []
        ys: list[float | None] = []
        for _, node in chosen:
            if node.path:
                x, parent = len(node.path), rows[node.path[:-1]]
                xs += [x - 1, x - 0.55, x, None]
                ys += [parent, node.row, node.row, None]
        line = {"color": colour, "width": 2 if fate == "shown" else 1, "dash": dash}
        figure.add_scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False)
        named = all_named or fate == "shown"
        figure.add_scatter(
            x=[len(node.path) for _, node in chosen],
            y=[node.row for _, node in chosen],
            mode="markers+text" if named else "markers",
            text=[html.escape(shortened(node.token, letters)) for _, node in chosen],
            textposition="top center",
            textfont={"size": 12},
            marker={"symbol": symbol, "color": colour, "size": size, "line": {"width": 1.5, "color": colour}},
            customdata=[i for i, _ in chosen],
            hovertext=[hover(node) for _, node in chosen],
            hoverinfo="text",
            name=translated(name),
        )
    figure.update_xaxes(
        title_text=t("step (target tokens)"), range=[-0.4, deepest + 0.6], dtick=1, showgrid=False, zeroline=False
    )
    figure.update_yaxes(visible=False, range=[lowest + 0.7, -0.9])
    figure.update_layout(
        height=140 + max(min(MAX_HEIGHT, ROW * (lowest + 1)), MIN_ROW * (lowest + 1) if all_named else 0),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
        dragmode=False,
    )
    return figure


def hover(node: Node) -> str:
    """The hover text of a node, one fact per line; tokens are escaped."""
    parts = [t("step {step}: {token}", step=len(node.path), token=html.escape(node.token))]
    if node.probability is not None:
        parts.append(t("probability {percent:.2f} %", percent=100 * node.probability))
    if node.score is not None and node.total is not None:
        parts.append(t("log-probability {total:.3f} nats, score {score:.3f}", total=node.total, score=node.score))
    return "<br>".join([*parts, *map(html.escape, node.names)])
