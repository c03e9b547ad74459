"""The products of query and key of one cell as bars, by dimension."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from explorer.charts.chart import HEIGHT, Figure, Table
from explorer.decoding.cell import Cell

AGREE, DISAGREE = "agree (product above 0)", "disagree (below 0)"


def product_figure(cell: Cell) -> Figure:
    """Products per dimension; their sum, scaled, is the score."""
    products = [float(dimension.product) for dimension in cell.dimensions]
    largest = max(range(len(products)), key=lambda i: abs(products[i]))
    above = sum(product > 0 for product in products)
    caption = (
        f"Query and key agree in {above} of {len(products)} dimensions. The largest product is "
        f"{cell.dimensions[largest].product} in dimension {largest + 1}; their sum is {cell.total}."
    )
    data: Table = {
        "dimension": list(range(1, len(products) + 1)),
        "product": products,
        "sign": [AGREE if product > 0 else DISAGREE for product in products],
    }
    return Figure(_spec(min(0.0, *products), max(0.0, *products)), data, caption, "Query × key, by dimension")


@lru_cache(maxsize=8)
def _spec(low: float, high: float) -> dict[str, Any]:
    """The chart for products between `low` and `high`: without them, it warns until it has its data."""
    scale = alt.Scale(domain=[AGREE, DISAGREE], range=["#bf641c", "#2a6da3"])
    made: dict[str, Any] = (
        alt.Chart()
        .mark_bar()
        .encode(
            # The sign is visible in the direction of the bar as well as in its colour.
            x=alt.X("dimension:O", title="dimension of the head", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("product:Q", title="query × key", stack=None, scale=alt.Scale(domain=[low, high or low + 1])),
            # One above the other: side by side they are wider than a phone.
            color=alt.Color(
                "sign:N", scale=scale, legend=alt.Legend(orient="top", title=None, columns=1, labelLimit=220)
            ),
            tooltip=["dimension:O", alt.Tooltip("product:Q", format=".4f")],
        )
        .properties(height=HEIGHT)
        .to_dict()
    )
    made.pop("config", None)
    return made
