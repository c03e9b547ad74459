"""Draw how the variants of an experiment differ from the first one: a shift with its interval for each."""

from __future__ import annotations

from math import isfinite
from typing import Any

import altair as alt

from explorer.charts.chart import GREY, Figure, Table
from explorer.charts.vega_chart import specification
from explorer.locale.language import cached_by_language
from explorer.runs.experiment_findings import caption, row_text, title, verdict_word
from explorer.runs.experiment_relations import Compared

ROW = 36  # pixels: a line of text above an interval
ROOM = 1.25  # beyond the outermost interval
_AXIS = 30
_BELOW = 8  # pixels of the interval below the middle of its row
_FACTORS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1000.0)
_DECIDED = ("higher", "lower", "same")


def forest_figure(what: Compared) -> Figure:
    """Draw the shift of each variant; shaded is the margin within which it counts as none.

    The axis is linear within the margin and logarithmic outside it, since the margin is what verdicts depend on.
    """
    loss = what.measure == "loss"
    none, low, high = (1.0, 1 / what.margin, what.margin) if loss else (0.0, -what.margin, what.margin)
    data: Table = {
        "text": [row_text(what, what.first, what.mean)],
        "decided": [True],
        "shift": [none],
        "low": [None],
        "high": [None],
    }
    for row in what.rows:
        known = isfinite(row.low) and isfinite(row.high)
        data["text"].append(row_text(what, row.arm, row.mean, verdict_word(what, row.verdict)))
        data["decided"].append(row.verdict in _DECIDED)
        for name, value in (("shift", row.shift), ("low", row.low), ("high", row.high)):
            data[name].append(value if known else None)
    data |= {"from": [low] * len(data["text"]), "to": [high] * len(data["text"])}
    ends = [value for name in ("low", "high", "from", "to") for value in data[name] if value is not None]
    domain = (min(ends) / ROOM, max(ends) * ROOM) if loss else (min(ends) * ROOM, max(ends) * ROOM)
    ticks = _FACTORS if loss else _steps(what.margin)
    shown = tuple(tick for tick in ticks if domain[0] <= tick <= domain[1])
    return Figure(_spec(tuple(data["text"]), what.margin, domain, shown, loss=loss), data, caption(what), title(what))


def _steps(margin: float) -> tuple[float, ...]:
    """The ticks of differences: none, and the margin times powers of ten, both ways."""
    sizes = [margin * 10**power for power in range(4)]
    return (*(-size for size in reversed(sizes)), 0.0, *sizes)


@cached_by_language(64)
def _spec(
    texts: tuple[str, ...], margin: float, domain: tuple[float, float], ticks: tuple[float, ...], *, loss: bool
) -> dict[str, Any]:
    """Specify the shaded margin, an interval and a dot in each row, grey where it decides nothing, and the texts."""
    kind: dict[str, Any] = {"type": "log"} if loss else {"type": "symlog", "constant": margin}
    axis = alt.Axis(values=list(ticks), format=",.12~r", title=None)
    x: dict[str, Any] = {"scale": alt.Scale(domain=list(domain), nice=False, **kind), "axis": axis}
    # Texts are labels of the axis that are moved into the plot, above the intervals: they need no room beside it.
    inside: dict[str, Any] = {
        "labelAlign": "left",
        "labelPadding": 0,
        "labelOffset": -_BELOW,
        "labelLimit": 0,
        "labelOverlap": False,
    }
    names = alt.Axis(title=None, domain=False, ticks=False, grid=False, zindex=1, **inside)
    base = alt.Chart().encode(y=alt.Y("text:N", axis=names, scale=alt.Scale(domain=list(texts), padding=0)))
    layers: list[Any] = [
        alt.Chart().mark_rect(opacity=0.15, color=GREY).encode(x=alt.X("min(from):Q", **x), x2="max(to):Q")
    ]
    for decided in (True, False):
        colour = alt.value(GREY) if not decided else alt.Color("decided:N", legend=None, scale=alt.Scale(domain=[True]))
        some = base.transform_filter(alt.datum.decided == decided).encode(color=colour)
        layers.append(some.mark_bar(size=3, yOffset=_BELOW).encode(x=alt.X("low:Q", **x), x2="high:Q"))
        layers.append(some.mark_point(filled=True, size=70, opacity=1, yOffset=_BELOW).encode(x=alt.X("shift:Q", **x)))
    return specification(*layers, height=len(texts) * ROW + _AXIS) | {"padding": {"bottom": 2}}
