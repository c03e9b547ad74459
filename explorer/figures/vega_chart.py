"""What all Altair charts share: a chart with its data, caption and title, and the look of axes and dashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 4], [6, 2, 1, 2])
GREY = "#7d8893"  # for what is not in focus; readable on white and on black
HEIGHT = 260  # pixels of every chart of curves, axes and legend included

Table = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart as a Vega-Lite specification, its data by column, and a caption computed from the data.

    `title` names what is measured, with its unit; it is set above the chart, so that the y axis needs no rotated text.
    """

    spec: dict[str, Any]
    data: Table
    caption: str
    title: str = ""


def step_axis(max_steps: int = 0) -> alt.X:
    """The axis of steps, which ends at `max_steps` or, without it, at the last step of the data."""
    axis = alt.Axis(format=",d", tickCount=6, grid=False)
    scale = alt.Scale(domain=[0, max_steps]) if max_steps else alt.Scale(nice=False)
    return alt.X("step:Q", title="step", scale=scale, axis=axis)


def marker() -> alt.Chart:
    """A dashed rule at the step in the column `mark`, which is the same in every row."""
    return alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x="max(mark):Q")
