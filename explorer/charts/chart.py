"""A chart as a value (specification, data, caption and title), and the style that all charts of curves share.

This module does not import Altair, which takes half a second; only the modules that build charts do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [12, 2], [10, 4], [6, 2, 1, 2])
GREY = "#7d8893"  # for marks that are not in focus; readable on white and on black
HEIGHT = 260  # pixels of a chart of curves, including axes and legend

Table = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart as a Vega-Lite specification, its data by column, and a caption computed from the data.

    `title` names the quantity with its unit; it is set above the chart, so that the y axis needs no rotated text.
    """

    spec: dict[str, Any]
    data: Table
    caption: str
    title: str = ""
