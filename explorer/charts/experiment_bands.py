"""Curves of experiments: the mean of each variant with a band from its lowest to its highest run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.charts.chart import DASHES, GREY, HEIGHT, Figure, Table
from explorer.locale.text import plural

PHONE = 330  # pixels that a figure is wide on a narrow phone
PLOT_HEIGHT = HEIGHT + 100  # the plot is what the page is about
LEGEND_ROW = 24  # pixels
SHAPES = ("circle", "square", "triangle-up", "diamond")  # of own runs
Series = Sequence[tuple[Sequence[float], Sequence[float]]]  # (x, y) of each run of a variant
OwnRun = tuple[str, str, Sequence[float], Sequence[float]]  # name, variant, x, y


def bands(variants: Mapping[str, Series]) -> Table:
    """Mean, minimum and maximum of each variant at every x of any of its runs, by column."""
    table: Table = {"x": [], "mean": [], "low": [], "high": [], "runs": [], "variant": []}
    for variant, runs in variants.items():
        at: dict[float, list[float]] = {}
        for xs, ys in runs:
            for x, y in zip(xs, ys, strict=True):
                at.setdefault(x, []).append(y)
        for x in sorted(at):
            values = at[x]
            numbers = (x, statistics.fmean(values), min(values), max(values), len(values), variant)
            for column, number in zip(table.values(), numbers, strict=True):
                column.append(number)
    return table


def band_figure(
    variants: Mapping[str, Series],
    *,
    x_title: str,
    title: str,
    unit: str,
    top: float | None = None,
    mark: float = 0.0,
    own: Sequence[OwnRun] = (),
) -> Figure:
    """Curves with bands; a dashed rule at `mark`, unless that is 0; the y axis ends at `top`, if given.

    `own` are single runs of the person who looks, at most as many as `SHAPES`, drawn over the bands with a mark at each
    value.
    """
    data = bands(variants)
    caption = end_words(data, x_title, unit)
    if own:
        data["own"] = [""] * len(data["x"])
        for name, variant, xs, ys in own:
            for x, y in zip(xs, ys, strict=True):
                for column, value in zip(data.values(), (x, y, y, y, 1, variant, name), strict=True):
                    column.append(value)
    if mark:
        data["mark"] = [mark] * len(data["x"])
    return Figure(
        _spec(tuple(variants), x_title, top, bool(mark), tuple(name for name, *_ in own)), data, caption, title
    )


def end_words(data: Table, x_title: str, unit: str) -> str:
    """Where each variant's curve ends, highest first, in a sentence."""
    ends = {variant: at for at, variant in enumerate(data["variant"])}  # a variant's last row counts
    if not ends:
        return "Nothing to draw yet: these runs have not been made."
    order = sorted(ends, key=lambda variant: data["mean"][ends[variant]], reverse=True)
    last = {data["x"][at] for at in ends.values()}
    if len(last) > 1:  # a variant may end earlier than the others, and none is measured beyond its end
        parts = [
            f"{variant} {_end(data, ends[variant], unit)} at {data['x'][ends[variant]]:,.0f} {x_title}"
            for variant in order
        ]
        return f"Where each curve ends, mean and range over the runs, highest first: {'; '.join(parts)}."
    parts = [f"{variant} {_end(data, ends[variant], unit)}" for variant in order]
    end = f"At the right end ({x_title} {last.pop():,.0f})"
    return f"{end}, mean and range over the runs, highest first: {'; '.join(parts)}."


def _end(data: Table, at: int, unit: str) -> str:
    mean, low, high, runs = (data[name][at] for name in ("mean", "low", "high", "runs"))
    return f"{mean:.3g}{unit} ({low:.3g} to {high:.3g}, {plural(runs, 'run')})"


def wide(data: Table) -> list[dict[str, Any]]:
    """The same as a table: one row per x, three columns per variant, one for each own run."""
    rows: dict[float, dict[str, Any]] = {}
    for i, x in enumerate(data["x"]):
        row = rows.setdefault(x, {"at": round(x)})
        if "own" in data and (name := data["own"][i]):
            row[name] = float(f"{data['mean'][i]:.4g}")
            continue
        for name in ("mean", "low", "high"):
            row[f"{data['variant'][i]}, {name}"] = float(f"{data[name][i]:.4g}")
    return [rows[x] for x in sorted(rows)]


def legend_columns(variants: Sequence[str]) -> int:
    """The number of legend columns, 1 to 3, that fit on a narrow phone."""
    longest = 45 + 6.5 * max(map(len, variants), default=0)  # pixels: the mark, then letters of the legend's size
    return max(1, min(3, int(PHONE / longest)))


@lru_cache(maxsize=32)
def _spec(
    variants: tuple[str, ...], x_title: str, top: float | None, marked: bool, own: tuple[str, ...]
) -> dict[str, Any]:
    """Bands with lines on top; variants differ in dashes as well as colours. Own runs have marks."""
    scale = alt.Scale(zero=True, nice=True) if top is None else alt.Scale(domain=[0, top])
    axis = alt.Axis(format=",d", tickCount=8, grid=False)
    colour = alt.Scale(domain=list(variants))
    dashes = alt.Scale(domain=list(variants), range=list(DASHES[: len(variants)]))
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=x_title, axis=axis, scale=alt.Scale(nice=False)),
        tooltip=[
            alt.Tooltip("variant:N", title=" "),
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
        columns=legend_columns(variants),
    )
    shades = base.mark_area(opacity=0.18).encode(
        y=alt.Y("low:Q", title=None, scale=scale),
        y2="high:Q",
        color=alt.Color("variant:N", legend=legend, sort=None, scale=colour),
    )
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("mean:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5)),
        color=alt.Color("variant:N", legend=legend, sort=None, scale=colour),
        strokeDash=alt.StrokeDash("variant:N", legend=legend, sort=None, scale=dashes),
    )
    layers: list[Any] = [shades, lines]
    if own:
        stored, alone = alt.datum.own == "", alt.datum.own != ""
        single = lines.mark_line(strokeWidth=1).encode(detail="own:N").transform_filter(alone)
        shapes = alt.Scale(domain=list(own), range=list(SHAPES[: len(own)]))
        named = alt.Legend(
            orient="top",
            title=None,
            labelLimit=PHONE - 40,
            symbolSize=80,
            symbolFillColor=GREY,
            symbolStrokeColor=GREY,
            columns=legend_columns(own),
        )
        points = lines.mark_point(size=60, filled=True, opacity=1).transform_filter(alone)
        points = points.encode(
            shape=alt.Shape("own:N", legend=named, sort=None, scale=shapes), strokeDash=alt.Undefined
        )
        layers = [shades.transform_filter(stored), lines.transform_filter(stored), single, points]
    if marked:
        layers.append(alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x="max(mark):Q"))
    rows = math.ceil(len(variants) / legend_columns(variants))  # of the legend, whose height is added to the chart
    rows += math.ceil(len(own) / legend_columns(own))
    made: dict[str, Any] = alt.layer(*layers).properties(height=PLOT_HEIGHT + LEGEND_ROW * max(0, rows - 1)).to_dict()
    made.pop("config", None)
    return made
