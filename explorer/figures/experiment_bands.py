"""Curves of experiments: the mean of each variant with a band from its lowest to its highest run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.figures.vega_chart import DASHES, GREY, HEIGHT, Figure, Table
from explorer.text import plural

PHONE = 330  # pixels that a figure is wide on a narrow phone
LEGEND_ROW = 24  # pixels
Series = Sequence[tuple[Sequence[float], Sequence[float]]]  # (x, y) of each run of a variant


def bands(ways: Mapping[str, Series]) -> Table:
    """Mean, minimum and maximum of each variant at every x of any of its runs, by column."""
    table: Table = {"x": [], "mean": [], "low": [], "high": [], "runs": [], "way": []}
    for way, runs in ways.items():
        found: dict[float, list[float]] = {}
        for xs, ys in runs:
            for x, y in zip(xs, ys, strict=True):
                found.setdefault(x, []).append(y)
        for x in sorted(found):
            values = found[x]
            numbers = (x, statistics.fmean(values), min(values), max(values), len(values), way)
            for column, number in zip(table.values(), numbers, strict=True):
                column.append(number)
    return table


def band_figure(
    ways: Mapping[str, Series], *, x_title: str, title: str, unit: str, top: float | None = None, mark: float = 0.0
) -> Figure:
    """Curves with bands; a dashed rule at `mark`, unless that is 0; the y axis ends at `top`, if given."""
    data = bands(ways)
    if mark:
        data["mark"] = [mark] * len(data["x"])
    return Figure(_spec(tuple(ways), x_title, top, bool(mark)), data, end_words(data, x_title, unit), title)


def end_words(data: Table, x_title: str, unit: str) -> str:
    """Where each variant's curve ends, highest first, in a sentence."""
    ends = {way: at for at, way in enumerate(data["way"])}  # a variant's last row counts
    if not ends:
        return "Nothing to draw yet: these runs have not been made."
    order = sorted(ends, key=lambda way: data["mean"][ends[way]], reverse=True)
    told = [f"{way} {_end(data, ends[way], unit)}" for way in order]
    last = max(data["x"][at] for at in ends.values())
    return f"At the right end ({x_title} {last:,.0f}), mean and range over the runs, highest first: {'; '.join(told)}."


def _end(data: Table, at: int, unit: str) -> str:
    mean, low, high, runs = (data[name][at] for name in ("mean", "low", "high", "runs"))
    return f"{mean:.3g}{unit} ({low:.3g} to {high:.3g}, {plural(runs, 'run')})"


def wide(data: Table) -> list[dict[str, Any]]:
    """The same as a table: one row per x, three columns per variant."""
    found: dict[float, dict[str, Any]] = {}
    for i, x in enumerate(data["x"]):
        row = found.setdefault(x, {"at": round(x)})
        for name in ("mean", "low", "high"):
            row[f"{data['way'][i]}, {name}"] = float(f"{data[name][i]:.4g}")
    return [found[x] for x in sorted(found)]


def legend_columns(ways: Sequence[str]) -> int:
    """The number of legend columns, 1 to 3, that fit on a narrow phone."""
    longest = 45 + 6.5 * max(map(len, ways), default=0)  # pixels: the mark, then letters of the legend's size
    return max(1, min(3, int(PHONE / longest)))


@lru_cache(maxsize=32)
def _spec(ways: tuple[str, ...], x_title: str, top: float | None, marked: bool) -> dict[str, Any]:
    """Bands with lines on top; variants differ in dashes as well as colours."""
    scale = alt.Scale(zero=True, nice=True) if top is None else alt.Scale(domain=[0, top])
    axis = alt.Axis(format=",d", tickCount=8, grid=False)
    colour = alt.Scale(domain=list(ways))
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=x_title, axis=axis, scale=alt.Scale(nice=False)),
        tooltip=[
            alt.Tooltip("way:N", title=" "),
            alt.Tooltip("x:Q", format=",d", title=x_title),
            alt.Tooltip("mean:Q", format=".4~g"),
            alt.Tooltip("low:Q", format=".4~g", title="lowest"),
            alt.Tooltip("high:Q", format=".4~g", title="highest"),
            alt.Tooltip("runs:Q"),
        ],
    )
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=PHONE - 40,
        symbolSize=400,
        symbolType="stroke",
        symbolOpacity=1,
        columns=legend_columns(ways),
    )
    shades = base.mark_area(opacity=0.18).encode(
        y=alt.Y("low:Q", title=None, scale=scale),
        y2="high:Q",
        color=alt.Color("way:N", legend=legend, sort=None, scale=colour),
    )
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("mean:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5)),
        color=alt.Color("way:N", legend=legend, sort=None, scale=colour),
        strokeDash=alt.StrokeDash(
            "way:N", legend=legend, sort=None, scale=alt.Scale(domain=list(ways), range=list(DASHES[: len(ways)]))
        ),
    )
    layers: list[Any] = [shades, lines]
    if marked:
        layers.append(alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x="max(mark):Q"))
    rows = math.ceil(len(ways) / legend_columns(ways))  # of the legend, whose height is added to the chart
    made: dict[str, Any] = alt.layer(*layers).properties(height=HEIGHT + LEGEND_ROW * max(0, rows - 1)).to_dict()
    made.pop("config", None)
    return made
