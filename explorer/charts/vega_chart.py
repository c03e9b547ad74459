"""Building blocks of all Altair charts: axes, named curves in colours and dashes, dots, and a rule as a marker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas  # noqa: F401 - Altair asks what is loaded of it, and another session might be in the middle of loading it

from explorer.charts.chart import DASHES, GREY, HEIGHT
from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t

_NUMBER = {"grouping": [3], "currency": ["", ""]}  # of a language, without its marks


def step_axis(max_steps: int = 0) -> alt.X:
    """The axis of steps from 0, which ends at `max_steps` or, without it, at the last step of the data."""
    axis = alt.Axis(format=",d", tickCount=6, grid=False)
    scale = alt.Scale(domain=[0, max_steps]) if max_steps else alt.Scale(domainMin=0, nice=False)
    return alt.X("step:Q", title=t("step"), scale=scale, axis=axis)


def value_axis(field: str = "value", top: float | None = None, labels: Sequence[float] = (), **scale: Any) -> alt.Y:
    """The axis of values, from 0 to `top` if that is given, which then has a label, or from the first of `labels`."""
    domain = alt.Scale(**({"nice": True} | scale)) if top is None else alt.Scale(domain=[0, top])
    # On a low chart every second label is left out, so the last of an even number of steps stays.
    ticks: dict[str, Any] = {"tickCount": 5} if top is None else {"values": [top * i / 4 for i in range(5)]}
    if labels:
        domain.domainMin, ticks = labels[0], {"values": list(labels)}
    if scale.get("type") == "log":  # over several powers of ten, most lines have no label
        ticks["gridOpacity"] = {"condition": {"test": "datum.label", "value": 1}, "value": 0}
    return alt.Y(f"{field}:Q", title=None, scale=domain, axis=alt.Axis(format=",.4~r", labelFlush=False, **ticks))


def named(field: str, names: Sequence[str], **legend: Any) -> dict[str, Any]:
    """Colour and dashes of curves by name, with one legend for both; `legend` are options of Altair's."""
    options = {"orient": "top", "title": None, "symbolSize": 400, "symbolType": "stroke", **legend}
    scale, dashes = alt.Scale(domain=list(names)), alt.Scale(domain=list(names), range=list(DASHES[: len(names)]))
    key = alt.Legend(**options)
    return {
        "color": alt.Color(f"{field}:N", legend=key, sort=None, scale=scale),
        "strokeDash": alt.StrokeDash(f"{field}:N", legend=key, sort=None, scale=dashes),
    }


def dots(lines: alt.Chart, field: str) -> alt.Chart:
    """A dot at each value of some curves."""
    chart = lines.encode(strokeDash=alt.Undefined, color=alt.Color(f"{field}:N", legend=None))
    return chart.mark_circle(size=28, opacity=1)


def marker() -> alt.Chart:
    """A dashed rule at the x given by the column `mark`, which has the same value in every row."""
    return alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x="max(mark):Q")


def specification(*layers: Any, height: int = HEIGHT) -> dict[str, Any]:
    """Make a Vega-Lite specification from layers: with the style of the page's theme, and numbers as the language's."""
    chart = alt.layer(*layers) if len(layers) > 1 else layers[0]
    values: dict[str, Any] = chart.properties(height=height).to_dict()
    marks = in_digits_of(current(), ",.")
    values["config"] = {"locale": {"number": _NUMBER | {"thousands": marks[0], "decimal": marks[1]}}}
    return values
