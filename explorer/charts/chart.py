"""A chart as a value: its specification, its data, its caption and title; the look that all charts of curves share.

Pages import this without Altair, whose import takes half a second; only what makes a chart needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
