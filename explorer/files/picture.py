"""A picture as a value: texts, boxes, curves and cells with coordinates in inches from the upper left corner.

map_picture.py and moving_picture.py describe pictures with these marks, without a drawing library; picture_drawing.py
draws them as PNG, SVG, PDF or frames of a moving picture. Later marks cover earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import LIGHT
from explorer.locale.scripts import columns_of

INK, SOFT = "#1d2733", "#5b6672"
BETWEEN = 0.06  # words of a line, in inches
Across = Literal["left", "center", "right"]
Dashes = tuple[float, ...]
Colour = str | tuple[float, ...]  # `#rrggbb`, or red, green and blue from 0 to 1


@dataclass(frozen=True)
class Text:
    """A text; `across` and `down` say which point of it is at (x, y). `size` is in points."""

    x: float
    y: float
    text: str
    size: float = 7.0
    colour: str = INK
    across: Across = "left"
    down: Literal["top", "center", "bottom", "baseline"] = "center"
    upright: bool = False
    bold: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle; without `fill` or `edge`, its area or its outline is not drawn. `line` is in points."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour | None = None
    edge: str | None = None
    line: float = 0.4
    rounding: float = 0.0
    hatched: bool = False


@dataclass(frozen=True)
class Curve:
    """A cubic Bézier curve by its four points, or a straight line by two; `width` is in points."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: float
    alpha: float = 1.0
    dashes: Dashes = ()


@dataclass(frozen=True, eq=False)
class Cells:
    """A grid of coloured cells: `colours` [row, column, rgb] from 0 to 1; cells that are `masked` are hatched."""

    x: float
    y: float
    width: float
    height: float
    colours: NDArray[np.float64]
    masked: NDArray[np.bool_]


Mark = Text | Box | Curve | Cells


@dataclass(frozen=True, eq=False)
class Picture:
    """Marks on a sheet; a file is cropped to the marks, a frame keeps the size of the sheet."""

    width: float
    height: float
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in it, by which the fonts are chosen."""
        return tuple(mark.text for mark in self.marks if isinstance(mark, Text))


def in_lines(widths: Sequence[float], room: float, places: Sequence[int], leftwards: bool) -> list[tuple[int, float]]:
    """The line of each word of a sentence, and its left edge; the words of a line stand by their `places`."""
    lines: list[list[int]] = []
    x = room
    for at, wide in enumerate(widths):
        if not lines or x + wide > room:
            lines.append([])
            x = 0.0
        lines[-1].append(at)
        x += wide + BETWEEN
    found = {}
    for number, line in enumerate(lines):
        x = room + BETWEEN - sum(widths[at] + BETWEEN for at in line) if leftwards else 0.0
        for at in sorted(line, key=places.__getitem__):
            found[at] = (number, x)
            x += widths[at] + BETWEEN
    return [found[at] for at in range(len(widths))]


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in inches; `size` is in points."""
    return columns_of(text) * size * 0.62 / 72


def shades(stops: tuple[str, ...], levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """The colours [..., rgb] of levels from 0 to 1 on a scale of evenly spaced colours; NaN is masked."""
    scale = np.array([_rgb(stop) for stop in stops])
    at = levels * (len(stops) - 1)
    colours = np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in scale.T], axis=-1)
    colours[np.isnan(levels)] = _rgb(LIGHT.masked)
    return colours


def tinted(colour: str, strength: float) -> Colour:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    return tuple(1 - strength * (1 - part) for part in _rgb(colour))


def _rgb(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
