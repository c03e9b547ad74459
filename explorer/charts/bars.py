"""Bar charts: the products of query and key in each dimension, and the probability of each token."""

from __future__ import annotations

from typing import Any

from explorer.charts.chart import HEIGHT, Figure, Table
from explorer.decoding.cell import Cell
from explorer.decoding.target_probabilities import probability_caption, probability_columns
from model.trace import AttentionTrace

AGREE, DISAGREE = "agree (product above 0)", "disagree (below 0)"


def product_figure(cell: Cell) -> Figure:
    """Draw query × key by dimension; the sum, scaled, is the score."""
    terms = [float(dimension["query × key"]) for dimension in cell.dimensions]
    largest = max(range(len(terms)), key=lambda i: abs(terms[i]))
    above = sum(product > 0 for product in terms)
    caption = (
        f"Query and key agree in {above} of {len(terms)} dimensions. The largest product is "
        f"{cell.dimensions[largest]['query × key']} in dimension {largest + 1}; their sum is {cell.total}."
    )
    data: Table = {
        "dimension": list(range(1, len(terms) + 1)),
        "product": terms,
        "sign": [AGREE if product > 0 else DISAGREE for product in terms],
    }
    low, high = min(0.0, *terms), max(0.0, *terms)
    # The sign shows in the direction of the bar as well as in its colour. Legend entries are stacked, since side by
    # side they would be wider than a phone. Without a domain, Vega warns until it has its data.
    encoding = {
        "x": _field("dimension", "ordinal", title="dimension of the head", axis={"labelAngle": 0}),
        "y": _field("product", title="query × key", stack=None, scale={"domain": [low, high or low + 1]}),
        "color": _field(
            "sign",
            "nominal",
            scale={"domain": [AGREE, DISAGREE], "range": ["#bf641c", "#2a6da3"]},
            legend={"orient": "top", "title": None, "columns": 1, "labelLimit": 220},
        ),
        "tooltip": [_field("dimension", "ordinal"), _field("product", format=".4f")],
    }
    return Figure(_bars(encoding, HEIGHT), data, caption, "Query × key, by dimension")


def probability_figure(trace: AttentionTrace) -> Figure:
    """Draw how likely the model found each token of a given target."""
    axis = {"labelAngle": -30, "labelOverlap": False, "labelLimit": 140}
    encoding = {
        "x": _field("token", "nominal", sort=None, title="predicted token", axis=axis),
        "y": _field("probability", title="probability (%)", scale={"domain": [0, 100]}),
        "tooltip": [
            _field("token", "nominal"),
            _field("probability", format=".2f"),
            _field("first", "nominal", title="first choice"),
        ],
    }
    title = "Probability of each token, in %"
    return Figure(_bars(encoding, 220), probability_columns(trace), probability_caption(trace), title)


def _bars(encoding: dict[str, Any], height: int) -> dict[str, Any]:
    return {"mark": {"type": "bar"}, "height": height, "encoding": encoding}


def _field(name: str, kind: str = "quantitative", **options: Any) -> dict[str, Any]:
    return {"field": name, "type": kind, **options}
