"""A picture as a value: texts, boxes, curves and cells at their places, in inches from the upper left corner.

Maps and steps are described here without any drawing library (map_picture.py, moving_picture.py); one pen draws them
all, as PNG, SVG, PDF and the frames of a moving picture (picture_drawing.py). Later marks cover earlier ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import LIGHT

INK, SOFT = "#1d2733", "#5b6672"
_MARK = "\u200e"  # invisible, and written from left to right
_HEBREW_ARABIC = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_END = re.compile(rf"(?<={_HEBREW_ARABIC})(?![\s,;.!?'-]*{_HEBREW_ARABIC})")  # of a run of words from right to left
Across = Literal["left", "center", "right"]
Dashes = tuple[float, ...]
Colour = str | tuple[float, ...]  # `#rrggbb`, or red, green and blue from 0 to 1


@dataclass(frozen=True)
class Text:
    """A text: its point (x, y) is at its left, centre or right, and at its top, centre or bottom; `size` in points."""

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
    """A rectangle; without `fill` or `edge`, its ground or its outline is not drawn. `line` is in points."""

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
    """Marks on a sheet; as a file it is cut to what its marks cover, as a frame it has its own size."""

    width: float
    height: float
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in it; the fonts are chosen by them."""
        return tuple(mark.text for mark in self.marks if isinstance(mark, Text))


def ordered(text: str) -> str:
    """A text that runs from left to right, whatever is in it: words from right to left turn nothing around them."""
    return f"{_MARK}{_END.sub(_MARK, text)}" if _END.search(text) else text


def width_of(text: str, size: float) -> float:
    """The estimated width of a text in inches, of letters of a size in points."""
    return len(text) * size * 0.62 / 72


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
