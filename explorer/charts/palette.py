"""The hues that every view of every page shares, for the light and the dark theme.

Source tokens have one hue and target tokens another; attention weights take the theme's sequential scale
(`chartSequentialColors` in .streamlit/config.toml); everything else takes the theme's own colours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, as `#rrggbb`.

    Violet and orange stay apart in every kind of colour blindness, and from the teal of accent and attention scale.
    `masked` and `hatch` are the ground and the lines of a cell that the mask forbids: off the scale, hence grey.
    """

    source: str
    target: str
    masked: str
    hatch: str


LIGHT = Palette(source="#7b3f98", target="#b4530a", masked="#ececec", hatch="#bdbdbd")
DARK = Palette(source="#cda6e6", target="#f5b06a", masked="#34373b", hatch="#5b5f65")

# Colours of exported figures, which are drawn on white: those of the light theme in .streamlit/config.toml.
ATTENTION_SCALE = (  # chartSequentialColors: weights from 0 to 1
    "#f7fbfc", "#e3f0f4", "#c8e1ea", "#a5cddc", "#7db4ca", "#5499b5", "#317d9c", "#186382", "#0b4963", "#063246",
)  # fmt: skip
# Differences, as chartDivergingColors: blue below zero, orange above.
DIFFERENCE_SCALE = (
    "#0b4a7a", "#2a6da3", "#5e96c3", "#9abfdc", "#f5f5f5", "#f0b98a", "#df8d4b", "#bf641c", "#8a4307",
)  # fmt: skip
# chartCategoricalColors: the colours of heads that are shown together. Each head keeps its own, whatever is shown.
HEAD_COLOURS = ("#0f5e7d", "#c2600c", "#3f7d3b", "#8a4a9e", "#a8323e", "#6b6f76", "#8a7200", "#2b8fb3")
N_DASHES = 8


def head_stroke(head: int) -> tuple[int, int]:
    """Colour and dashes of a head, counted from 0; the mean (head 0) has the colour of text (-1) and no dashes.

    Colours repeat after eight heads, but then with other dashes. The browser takes the same ones
    (explorer/browser/js/head_strokes.js).
    """
    if not head:
        return -1, 0
    turn, colour = divmod(head - 1, len(HEAD_COLOURS))
    return colour, (head - 1 + turn) % N_DASHES


def palettes() -> dict[str, dict[str, str]]:
    """Both palettes as JSON values, keyed `light` and `dark`, for the views that draw in the browser."""
    return {"light": asdict(LIGHT), "dark": asdict(DARK)}
