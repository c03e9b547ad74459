"""The colours that all views share, for the light and the dark theme.

Source tokens have one hue and target tokens another; attention weights use the theme's sequential scale
(`chartSequentialColors` in .streamlit/config.toml); everything else uses the theme's own colours.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, as `#rrggbb`.

    Violet and orange can be told apart in every kind of colour blindness, and from the teal of accent and attention
    scale. `masked` and `hatch` are the background and the lines of a masked cell: grey, since it is not on the scale.
    `frame`: of cells that differ from a map beside theirs.
    """

    source: str
    target: str
    masked: str
    hatch: str
    frame: str


LIGHT = Palette(source="#7b3f98", target="#b4530a", masked="#ececec", hatch="#bdbdbd", frame="#c2255c")
DARK = Palette(source="#cda6e6", target="#f5b06a", masked="#34373b", hatch="#5b5f65", frame="#ff6b9d")

# Colours of exported figures, which are drawn on white: those of the light theme.
_CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
THEME: dict[str, Any] = tomllib.loads(_CONFIG.read_text(encoding="utf-8"))["theme"]
ATTENTION_SCALE = tuple(THEME["light"]["chartSequentialColors"])  # weights from 0 to 1
# The colours of heads that are drawn together; a head always has the same colour.
HEAD_COLOURS = tuple(THEME["light"]["chartCategoricalColors"])
# Differences, as chartDivergingColors: blue below zero, orange above.
DIFFERENCE_SCALE = (
    "#0b4a7a", "#2a6da3", "#5e96c3", "#9abfdc", "#f5f5f5", "#f0b98a", "#df8d4b", "#bf641c", "#8a4307",
)  # fmt: skip
N_DASHES = 8


def head_stroke(head: int) -> tuple[int, int]:
    """Indices of the colour and the dashes of a head; the mean (head 0) has the colour of text (-1) and no dashes.

    Colours repeat after eight heads, but then with other dashes.
    """
    if not head:
        return -1, 0
    turn, colour = divmod(head - 1, len(HEAD_COLOURS))
    return colour, (head - 1 + turn) % N_DASHES


def strokes() -> list[tuple[int, int]]:
    """The strokes of heads from head 1 up to where they repeat, for the views that draw in the browser."""
    return [head_stroke(head) for head in range(1, len(HEAD_COLOURS) * N_DASHES + 1)]


def palettes() -> dict[str, dict[str, str]]:
    """Both palettes as JSON values, keyed `light` and `dark`, for the views that draw in the browser."""
    return {"light": asdict(LIGHT), "dark": asdict(DARK)}
