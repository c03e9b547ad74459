"""Draw curves of experiments: the mean of each variant with a band from its lowest to its highest run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from explorer.charts.chart import HEIGHT, Figure, Table
from explorer.charts.vega_chart import marker, named, specification, value_axis
from explorer.locale.language import cached_by_language
from explorer.locale.messages import t
from explorer.locale.text import fixed
from explorer.runs.experiment_arms import range_columns

PHONE = 330  # width in pixels of a figure on a narrow phone
PLOT_HEIGHT = HEIGHT + 100  # larger than usual: it is the main figure of its page
LEGEND_ROW = 24  # pixels
_HALF = 50.0  # percent
_FEW = 3  # variants whose bands hide little of each other
UNEVEN = 4  # times as many updates as in another variant
COLUMNS = ("x", "mean", "low", "high", "runs", "variant")
Series = Sequence[tuple[Sequence[float], Sequence[float]]]  # (x, y) of each run of a variant


def bands(variants: Mapping[str, Series]) -> Table:
    """Compute mean, minimum and maximum of each variant at every x of any of its runs, as columns."""
    rows: list[tuple[Any, ...]] = []
    for variant, runs in variants.items():
        at: dict[float, list[float]] = {}
        for x, y in (point for run in runs for point in zip(*run, strict=True)):
            at.setdefault(x, []).append(y)
        rows += [(x, statistics.fmean(y), min(y), max(y), len(y), variant) for x, y in sorted(at.items())]
    return {name: [row[column] for row in rows] for column, name in enumerate(COLUMNS)}


def band_figure(
    variants: Mapping[str, Series],
    *,
    x_title: str,
    title: str,
    unit: str,
    top: float | None = None,
    mark: float = 0.0,
) -> Figure:
    """Draw curves with bands; a dashed rule at `mark`, unless that is 0; the y axis ends at `top`, if given."""
    data = bands(variants)
    caption = half_words(data, x_title) if mark else end_words(data, x_title, unit)
    if mark:
        data["mark"] = [mark] * len(data["x"])
    lasts = [max(x for xs, _ in runs for x in xs) for runs in variants.values() if any(xs for xs, _ in runs)]
    uneven = bool(lasts) and max(lasts) > UNEVEN * min(lasts) and min(data["x"]) > 0
    title = t("{title} (logarithmic axis)", title=title) if uneven else title
    spec = _spec(tuple(variants), x_title, top, marked=bool(mark), uneven=uneven)
    return Figure(spec, data, caption, title)


def end_words(data: Table, x_title: str, unit: str) -> str:
    """State where each variant's curve ends, highest first, in a sentence."""
    rows = [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]
    ends = {row["variant"]: row for row in rows}  # a variant's last row counts
    if not ends:
        return t("Nothing to draw yet: there are no such runs.")
    parts, decimals = [], _decimals(data)
    for row in sorted(ends.values(), key=lambda row: row["mean"], reverse=True):
        mean, low, high = (fixed(row[name], decimals) for name in ("mean", "low", "high"))
        runs = t("{n} run", "{n:,} runs", n=row["runs"])
        said = t("{mean}{unit} ({low} to {high}, {runs})", mean=mean, unit=unit, low=low, high=high, runs=runs)
        parts.append((t("{variant}: {mean}", variant=row["variant"], mean=said), row["x"]))
    places = {x for _, x in parts}
    if len(places) == 1:
        return t(
            "On validation at {x:,.0f} {axis}, mean and range over the runs, highest first: {ends}.",
            x=places.pop(),
            axis=x_title,
            ends="; ".join(part for part, _ in parts),
        )
    return t(
        "Where each curve ends on validation, mean and range over the runs, highest first: {ends}.",
        ends="; ".join(t("{score} at {x:,.0f} {axis}", score=part, x=x, axis=x_title) for part, x in parts),
    )


def half_words(data: Table, x_title: str) -> str:
    """State up to which x the mean of each variant stays at 50 % or more from the first one on, furthest first."""
    reach: dict[str, float] = {}
    fallen = set()
    for x, value, variant in zip(data["x"], data["mean"], data["variant"], strict=True):
        fallen |= {variant} if value < _HALF else set()
        reach[variant] = reach.get(variant, 0.0) if variant in fallen else x
    parts = [f"{variant} {x:.0f}" for variant, x in sorted(reach.items(), key=lambda item: -item[1])]
    return t(
        "Length up to which at least half are right on average, in {axis}: {reach}.",
        axis=x_title,
        reach="; ".join(parts),
    )


def _decimals(data: Table) -> int:
    return 1 if max(data["high"], default=0.0) >= 10 else 4


def wide(data: Table) -> list[dict[str, Any]]:
    """Pivot the data into a table: one row per x, three columns per variant; large numbers have one decimal."""
    decimals = _decimals(data)
    rows: dict[float, dict[str, Any]] = {}
    for x, *values, _, variant in zip(*(data[name] for name in COLUMNS), strict=True):
        row = rows.setdefault(x, {t("at"): round(x)})
        row |= {of: round(value, decimals) for of, value in zip(range_columns(variant), values, strict=True)}
    return [rows[x] for x in sorted(rows)]


def _label_width(variants: Sequence[str]) -> float:
    """The width in pixels of the widest entry of a legend: the symbol, then the characters."""
    return 45 + 7.5 * max(map(len, variants), default=0)


def legend_columns(variants: Sequence[str]) -> int:
    """The number of legend columns, 1 to 3, that fit on a narrow phone."""
    return max(1, min(3, int(PHONE / _label_width(variants))))


def _columns(variants: Sequence[str]) -> alt.ExprRef:
    """The number of legend columns that fit on the screen: what they leave of the phone's rows, the curves gain."""
    return alt.ExprRef(f"max({legend_columns(variants)}, floor(width / {_label_width(variants):g}))")


@cached_by_language(32)
def _spec(variants: tuple[str, ...], x_title: str, top: float | None, *, marked: bool, uneven: bool) -> dict[str, Any]:
    """Specify bands with lines on top; variants differ in dashes as well as colours.

    The x axis is logarithmic if curves end at `uneven` places, so that the short ones are not squeezed.
    """
    room: dict[str, Any] = {"labelLimit": PHONE - 40, "columns": _columns(variants)}
    base = alt.Chart().encode(
        x=alt.X(
            "x:Q",
            title=x_title,
            axis=alt.Axis(format=",d", tickCount=5, grid=False),
            scale=alt.Scale(nice=False, type="log" if uneven else "linear"),
        ),
        y=value_axis("mean", top, zero=True),
        tooltip=[
            alt.Tooltip("variant:N", title=" "),
            alt.Tooltip("x:Q", format=",d", title=x_title),
            alt.Tooltip("mean:Q", format=".4~g", title=t("mean")),
            alt.Tooltip("low:Q", format=".4~g", title=t("lowest")),
            alt.Tooltip("high:Q", format=".4~g", title=t("highest")),
            alt.Tooltip("runs:Q", title=t("runs")),
        ],
        **named("variant", variants, symbolOpacity=1, **room),
    )
    shades = base.mark_area(opacity=0.18 if len(variants) <= _FEW else 0.1).encode(
        y=value_axis("low", top, zero=True), y2="high:Q"
    )
    shades = shades.encode(strokeDash=alt.Undefined)
    lines = base.mark_line(strokeWidth=2)
    layers: list[Any] = [shades, lines]
    if marked:
        layers.append(marker())
    rows = math.ceil(len(variants) / legend_columns(variants))  # of the legend, whose height is added
    return specification(*layers, height=PLOT_HEIGHT + LEGEND_ROW * max(0, rows - 1))
