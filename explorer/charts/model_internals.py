"""Figures of the Inside page: activations, queries and keys, the prediction layer by layer, parameters and FLOPs."""

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
    heatmap,
    label,
    labels,
    lying,
    margin,
    names_at,
    numbered,
)
from explorer.locale.messages import message, t, translated
from explorer.locale.text import count, quoted
from model.analysis.operations import Operation, Projection, Recording
from model.analysis.size import Part

Floats = NDArray[np.float32]
MAX_COLUMNS = 32


def activation_plot(values: Floats, tokens: Sequence[str], title: str, *, side: str, first: int = 1) -> Plot:
    """Draw the result of an operation [position, dimension]; the diverging scale is cut at the 99th percentile.

    `first` is the position of the first token.
    """
    top = float(np.quantile(np.abs(values), 0.99)) or 1.0
    figure = heatmap(
        values, x_title=t("dimension"), y_title=side, span=(-top, top), height=120 + 24 * min(len(values), 16)
    )
    names = labels(tokens, first)
    figure.update_layout(margin_l=beside(names), yaxis=names_at(names, figure.layout.height - 66))
    flat = int(np.abs(values).argmax())
    row, column = divmod(flat, values.shape[1])
    caption = t(
        "{rows} × {columns} numbers, mean {mean:.3f}, standard deviation {deviation:.3f}. The largest in "
        "magnitude is {most:.2f}, at {position} {token}, dimension {dimension}. The colour scale ends at "
        "±{top:.2g}.",
        rows=values.shape[0],
        columns=values.shape[1],
        mean=values.mean(),
        deviation=values.std(),
        most=values[row, column],
        position=row + first,
        token=quoted(tokens[row]),
        dimension=column,
        top=top,
    )
    columns: Columns = {t("position"): numbered(tokens, first)}
    columns |= {t("dim {i}", i=i): values[:, i].round(4).tolist() for i in range(min(values.shape[1], MAX_COLUMNS))}
    return Plot(figure, caption, title, columns)


def active_units(activations: Floats) -> str:
    """State how many feed-forward units are above zero; activations [position, d_ff]."""
    above = activations > 0
    return t(
        "Of {n} units, {share:.0f} % are active on average; {never} are never active in view, {always} always.",
        n=activations.shape[1],
        share=100 * above.mean(),
        never=int((~above).all(axis=0).sum()),
        always=int(above.all(axis=0).sum()),
    )


def _range_with_room(values: NDArray[Any], share: float) -> list[float]:
    """The range of an axis, with room for the labels of the outermost points, even on a phone."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low) or 1.0
    return [low - room, high + room]


_PLANE = (290.0, 280.0)  # extent of the points of a projection in a column of a laptop's page, in pixels
_LETTER, _LINE, _GAP = 7.0, 15.0, 9.0  # of a label: width of a letter, height, distance from its point
_SIDES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
}


def label_sides(points: NDArray[Any], names: Sequence[str]) -> list[str]:
    """Choose the side of each point [point, 2] on which its label overlaps other labels and points least."""
    extent = np.ptp(points, axis=0)
    at = points / np.where(extent > 0, extent, 1.0) * _PLANE
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in at]  # the markers, then the labels
    chosen = []
    for (x, y), name in zip(at, names, strict=True):
        width = _LETTER * len(name)
        sides = {}
        for side, (dx, dy) in _SIDES.items():
            left = x + dx * _GAP - width * (1 - dx) / 2
            low = y + dy * _GAP - _LINE * (1 - dy) / 2
            sides[side] = (left, low, left + width, low + _LINE)
        side = min(sides, key=lambda each: sum(_overlap(sides[each], box) for box in boxes))
        boxes.append(sides[side])
        chosen.append(side)
    return chosen


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The area that two boxes (left, bottom, right, top) share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def projection_plot(projection: Projection, groups: Sequence[tuple[str, Sequence[str]]], title: str) -> Plot:
    """Plot the points of several groups of tokens in the plane of their two principal components."""
    figure = go.Figure()
    start, symbols = 0, ("circle", "diamond", "square")
    sides = label_sides(projection.points, [name for _, tokens in groups for name in numbered(tokens)])
    columns: Columns = {t("group"): [], t("token"): [], "x": [], "y": []}
    for i, (name, tokens) in enumerate(groups):
        points, places = projection.points[start : start + len(tokens)], sides[start : start + len(tokens)]
        start += len(tokens)
        figure.add_trace(
            go.Scatter(
                x=points[:, 0],
                y=points[:, 1],
                name=name,
                mode="markers+text",
                text=labels(tokens),
                textposition=places,
                marker={"size": 11, "symbol": symbols[i % 3], "color": COLOURS[i]},
                hovertemplate=name + ": %{text}<extra></extra>",
            )
        )
        columns[t("group")] += [name] * len(tokens)
        columns[t("token")] += numbered(tokens)
        columns["x"] += points[:, 0].round(4).tolist()
        columns["y"] += points[:, 1].round(4).tolist()
    figure.update_layout(
        height=460,
        margin=margin(top=44),
        legend={"orientation": "h", "y": 1.1},
        xaxis={
            "title": {"text": t("first principal component"), "standoff": 10},
            "zeroline": False,
            "automargin": False,
            "range": _range_with_room(projection.points[:, 0], 0.18),
        },
        yaxis={
            "title": {"text": t("second principal component"), "standoff": 14},
            "zeroline": False,
            "automargin": False,
            "range": _range_with_room(projection.points[:, 1], 0.12),
        },
    )
    caption = t(
        "The two principal components explain {percent:.0f} % of the variance; the rest is not in the "
        "figure, so points that are close here may still be far apart.",
        percent=100 * projection.explained_variance,
    )
    return Plot(figure, caption, title, columns)


def lens_plot(
    probabilities: Floats, words: Sequence[Sequence[str]], rows: Sequence[str], stages: Sequence[str]
) -> Plot:
    """Draw the likeliest token after each stage, [stage, row], with its probability as the colour."""
    figure = heatmap(
        probabilities.T,
        x=[label(stage) for stage in stages],
        y=labels(rows),
        x_title=t("read off after"),
        y_title=t("decoder reads"),
        height=150 + 30 * min(len(rows), 16),
    )
    cell_tokens = np.array([[label(words[s][r]) for s in range(len(stages))] for r in range(len(rows))])
    figure.data[0].update(
        text=cell_tokens,
        texttemplate="%{text}",
        customdata=cell_tokens,
        hovertemplate=t("%{{y}}, after %{{x}}: %{{customdata}}, %{{z:.1%}}") + "<extra></extra>",
    )
    last, final = len(rows) - 1, words[-1][-1]
    first_final = next(s for s in range(len(stages)) if all(words[i][last] == final for i in range(s, len(stages))))
    caption = t(
        "After {read} the prediction is {token} ({percent:.0f} %); it is first from “{stage}” on.",
        read=quoted(rows[last]),
        token=quoted(final),
        percent=100 * probabilities[-1, last],
        stage=stages[first_final],
    )
    table: Columns = {t("decoder reads"): numbered(rows)}
    for s, stage in enumerate(stages):
        table[stage] = [
            t("{token} ({percent:.1f} %)", token=words[s][r], percent=100 * probabilities[s, r])
            for r in range(len(rows))
        ]
    return Plot(figure, caption, t("How the prediction forms"), table)


OTHERS = message("all others")


def chances_plot(tokens: Sequence[str], series: Mapping[str, Sequence[float]], caption: str, title: str) -> Plot:
    """Draw the probabilities of some tokens, and of all others together, as one series of bars per name, in percent."""
    percent = {name: [100 * v for v in (*values, max(0.0, 1 - sum(values)))] for name, values in series.items()}
    figure = bars(percent, tokens, y_title=t("probability (%)"), top=105, height=340, also=[translated(OTHERS)])
    columns: Columns = {t("token"): [*numbered(tokens), translated(OTHERS)]}
    columns |= {t("{name} (%)", name=name): [round(v, 4) for v in values] for name, values in percent.items()}
    return Plot(figure, caption, title, columns)


def budget_plot(parts: Sequence[Part]) -> Plot:
    """Draw the share of each part in the parameters and in the FLOPs of one pass."""
    counts = {
        t("parameters"): [part.parameters for part in parts],
        t("FLOPs of one pass"): [part.flops for part in parts],
    }
    shares = {unit: [100 * value / (sum(values) or 1) for value in values] for unit, values in counts.items()}
    names = [part.name for part in parts]
    figure = lying(bars(shares, (), y_title=t("share (%)"), height=100 + 34 * len(names), also=names))
    table: Columns = {t("part"): names}
    sentences = []
    for unit, values in counts.items():
        table |= {unit: values, t("{unit} (%)", unit=unit): [round(share, 2) for share in shares[unit]]}
        most = max(range(len(parts)), key=lambda i: values[i])
        sentences.append(
            t(
                "{total} {unit}; the largest part is the {part} ({share:.0f} %).",
                total=count(sum(values)),
                unit=unit,
                part=names[most],
                share=shares[unit][most],
            )
        )
    return Plot(figure, " ".join(sentences), t("Where the parameters and the FLOPs are"), table)


def operation_table(
    run: Recording, operation: Operation, tokens: Sequence[str], first: int
) -> tuple[Columns, str] | None:
    """Tabulate what a norm, residual, scaling or embedding does to each position, with a title; None for others."""
    value, before = operation.numbers, [run[name].numbers for name in operation.reads]
    numbers: dict[str, Sequence[float] | NDArray[Any]]
    if operation.short.startswith("norm"):
        title = t("Mean and standard deviation of each position before and after the norm")
        numbers = {
            t("mean before"): before[0].mean(axis=1),
            t("standard deviation before"): before[0].std(axis=1),
            t("mean after"): value.mean(axis=1),
            t("standard deviation after"): value.std(axis=1),
        }
    elif operation.short.startswith("residual"):
        title = t("Length of the input, of what the sublayer added, and of their sum")
        names = (t("length of input"), t("length of sublayer"), t("length of sum"))
        numbers = {name: np.linalg.norm(each, axis=1) for name, each in zip(names, (*before, value), strict=True)}
    elif operation.short in ("scaled", "positions"):
        title = t("Length of each vector before and after")
        numbers = {
            t("length before"): np.linalg.norm(before[0], axis=1),
            t("length after"): np.linalg.norm(value, axis=1),
        }
    elif operation.short == "embedding":
        title = t("The id of each token, which is its row in the embedding table")
        ids = run.src_ids if operation.name.startswith("src") else run.read_ids
        numbers = {t("id"): ids[-len(tokens) :]}
    else:
        return None
    table: Columns = {t("position"): numbered(tokens, first)}
    return table | {name: [round(float(v), 4) for v in values] for name, values in numbers.items()}, title


def highest_values(operation: Operation, label_of: Callable[[int], str]) -> Columns:
    """List the highest logits of the last row, or its highest probabilities, with their tokens."""
    values = operation.numbers if operation.numbers.ndim == 1 else operation.numbers[-1]
    order = np.argsort(-values, kind="stable")[:12]
    is_share = operation.name == "softmax"
    return {
        t("rank"): list(range(1, len(order) + 1)),
        t("token"): [label_of(int(i)) for i in order],
        t("id"): order.tolist(),
        t("probability (%)") if is_share else t("logit"): [
            round(float(100 * values[i] if is_share else values[i]), 4) for i in order
        ],
    }
