"""The hues that every view of every page shares, for the light and the dark theme.

Source tokens have one hue and target tokens another; attention weights take the theme's sequential scale
(`chartSequentialColors` in .streamlit/config.toml); everything else takes the theme's text, background and accent.
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


def palettes() -> dict[str, dict[str, str]]:
    """Both palettes as JSON values, keyed `light` and `dark`, for the views that draw in the browser."""
    return {"light": asdict(LIGHT), "dark": asdict(DARK)}
