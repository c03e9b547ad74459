"""Figures of the Masks page: masks, and scores before and after them; a sign in each closed cell gives the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import Columns, Plot, curves, heatmap, labels, numbered
from explorer.decoding.names import AXIS_TITLES
from explorer.locale.text import plural
from explorer.runs.metrics import Metrics
from model.config import AttentionKind
from model.trace import FUTURE, PADDING, VISIBLE, Codes

WORDS = {VISIBLE: "open", FUTURE: "closed: the future", PADDING: "closed: padding"}
_GREY = "rgba(125, 136, 147, 0.25)"  # readable on white and on black, and in no colour scale
_THIRD = 310  # pixels of a figure in a third of the page
_ACROSS, _UP, _SIDE = 4, 6.5, 180  # half the size of a sign where cells are large, and the size of a map; pixels
Floats = NDArray[np.float32]
_OPEN = "#000014"  # Streamlit replaces it by a colour from the lower part of the theme's sequential scale


@dataclass(frozen=True)
class MapLabels:
    """The places of a map: its kind of attention, labels of its rows and columns, and why each cell is open or not."""

    kind: AttentionKind
    rows: Sequence[str]
    columns: Sequence[str]
    codes: Codes


def mask_plot(places: MapLabels, title: str) -> Plot:
    """Open and closed cells, [query, key]; each closed one has the sign of its reason."""
    figure = _map(np.where(places.codes == VISIBLE, 1.0, np.nan), places, closed="", hover=_words(places.codes))
    figure.data[0].update(colorscale=[[0, _OPEN], [1, _OPEN]], autocolorscale=False, showscale=False)
    figure.update_layout(margin_r=40)  # there is no colour bar, but the last label is slanted
    cells = [[WORDS[int(code)] for code in row] for row in places.codes]
    return Plot(figure, mask_words(places.codes), title, _table(places, cells))


def mask_words(codes: Codes) -> str:
    """The number of closed cells by reason, in a sentence."""
    future, padding, every = int((codes == FUTURE).sum()), int((codes == PADDING).sum()), codes.size
    if not future + padding:
        return f"None of {plural(every, 'cell')} is closed."
    parts = [f"{n} {why} {sign}" for n, why, sign in ((future, "the future", "╱"), (padding, "padding", "╳")) if n]
    return f"{every - future - padding} of {plural(every, 'cell')} are open; closed: {', '.join(parts)}."


def score_plots(scores: Floats, masked: Floats, weights: Floats, places: MapLabels) -> dict[str, Plot]:
    """One head before the mask, after it and after softmax, [query, key] each, by the names of these stages."""
    span = float(np.abs(scores).max()) or 1.0
    lowest = f"{float(np.finfo(np.float32).min):.1e}"
    is_open = places.codes == VISIBLE
    cells = [[round(float(value), 3) for value in row] for row in scores]
    before = Plot(
        _map(scores, places, span=(-span, span)),
        f"Query · key / √d_head, from {float(scores.min()):.2f} to {float(scores.max()):.2f}: computed for every cell, "
        f"closed or not.",
        "1. Scores before masking",
        _table(places, cells),
    )
    open_cells = [[cell if is_open[i, j] else None for j, cell in enumerate(row)] for i, row in enumerate(cells)]
    after = Plot(
        _map(np.where(is_open, masked, np.nan), places, closed=f"score {lowest}, ", span=(-span, span)),
        f"{int((~is_open).sum())} closed cells hold the lowest float32 number ({lowest}), the others their score.",
        "2. After masking",
        _table(places, open_cells),
    )
    return {"scores": before, "masked": after, "weights": weight_plot(weights, places, "3. After softmax")}


def weight_plot(weights: Floats, places: MapLabels, title: str, caption: str = "") -> Plot:
    """Attention weights, [query, key], after softmax; closed cells look different from small weights."""
    closed = places.codes != VISIBLE
    caption = caption or (
        f"Each row sums to 1 over its open cells; the {int(closed.sum())} closed cells got "
        f"{float(weights[closed].sum()) if closed.any() else 0.0:.0f} exactly."
    )
    cells = [[round(100 * float(v), 2) for v in row] for row in weights]
    figure = _map(np.where(closed, np.nan, weights), places, closed="weight 0, ")
    return Plot(figure, caption, title, _table(places, cells))


def _map(values: NDArray[Any], places: MapLabels, *, closed: str | None = None, **options: Any) -> go.Figure:
    """A heatmap in a third of the page; `closed` says of closed cells what they hold, None leaves them as they are."""
    y_title, x_title = AXIS_TITLES[places.kind]
    y, x = labels(places.rows), labels(places.columns)
    figure = heatmap(values, x=x, y=y, x_title=x_title, y_title=y_title, height=320, width=_THIRD, **options)
    if closed is not None:
        _close(figure, places.codes, y, x, closed)
    return figure


def loss_plot(runs: dict[str, Metrics]) -> Plot:
    """Training loss of several runs against the step, on a logarithmic axis."""
    series = {
        name: ([p["step"] for p in metrics.train if "loss" in p], [p["loss"] for p in metrics.train if "loss" in p])
        for name, metrics in runs.items()
    }
    lasts = [f"{name} {losses[-1]:.4f}" for name, (_, losses) in series.items() if losses]
    figure = curves(series, x_title="step", y_title="training loss (nats per token)", log=True, height=300)
    return Plot(figure, f"Training loss at the end: {', '.join(lasts)}.", "Training loss", _by_step(series))


def right_plot(runs: dict[str, Metrics]) -> Plot:
    """Exact match on validation at each evaluation of several runs."""
    series = {
        name: (
            [p["step"] for p in metrics.evals if "exact_match" in p],
            [100 * p["exact_match"] for p in metrics.evals if "exact_match" in p],
        )
        for name, metrics in runs.items()
    }
    lasts = [f"{name} {right[-1]:.0f} %" for name, (_, right) in series.items() if right]
    figure = curves(series, x_title="step", y_title="exactly right (%)", dots=True, height=300)
    figure.update_yaxes(range=[-4, 104])
    return Plot(figure, f"Translated exactly right at the end: {', '.join(lasts)}.", "Translations", _by_step(series))


def _by_step(series: dict[str, tuple[list[float], list[float]]]) -> Columns:
    steps = sorted({int(step) for xs, _ in series.values() for step in xs})
    by_step = {name: dict(zip(map(int, xs), ys, strict=True)) for name, (xs, ys) in series.items()}
    return {"step": list(steps)} | {name: [values.get(step) for step in steps] for name, values in by_step.items()}


def _words(codes: Codes) -> NDArray[Any]:
    return np.array([WORDS[code] for code in (VISIBLE, FUTURE, PADDING)])[codes]


def _close(figure: go.Figure, codes: Codes, y: list[str], x: list[str], contents: str) -> None:
    """Draw closed cells over a heatmap: grey, with the sign of their reason; on hover their contents and the reason."""
    if not (codes != VISIBLE).any():
        return
    figure.add_trace(
        go.Heatmap(
            z=np.where(codes == VISIBLE, np.nan, 1.0),
            x=x,
            y=y,
            customdata=np.char.add(contents, _words(codes)),
            hovertemplate="%{y}, %{x}: %{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale=[[0, _GREY], [1, _GREY]],
            showscale=False,
            xgap=1,
            ygap=1,
        )
    )
    # All signs are one path: as separate texts they would take the browser longer than everything else.
    figure.add_shape(type="path", path=_signs(codes), line={"color": "#7d8893", "width": 1.3})


def _signs(codes: Codes) -> str:
    """A stroke through each cell of the future and a cross through padding, as the path of one shape."""
    rows, columns = codes.shape
    across, up = min(0.3, _ACROSS * columns / _SIDE), min(0.3, _UP * rows / _SIDE)
    strokes = []
    for row, column in np.argwhere(codes != VISIBLE).tolist():
        left, right, low, high = column - across, column + across, row + up, row - up
        strokes.append(f"M{left:.2f},{low:.2f}L{right:.2f},{high:.2f}")
        if codes[row, column] == PADDING:
            strokes.append(f"M{left:.2f},{high:.2f}L{right:.2f},{low:.2f}")
    return "".join(strokes)


def _table(places: MapLabels, cells: Sequence[Sequence[Any]]) -> Columns:
    keys = numbered(places.columns)
    return {"query": numbered(places.rows)} | {key: [row[i] for row in cells] for i, key in enumerate(keys)}
