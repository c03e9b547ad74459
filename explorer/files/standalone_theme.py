"""The colours and fonts of the app's theme as CSS variables, under the names by which Streamlit gives them to views."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

_CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
_RED = {"light": "#b00020", "dark": "#ff8a8a"}


@functools.cache
def style() -> str:
    """Rules that set the variables: by the browser's wish, or by the attribute `data-theme` of the root element."""
    light, dark = (_variables(name) for name in ("light", "dark"))
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
    )


def _variables(name: str) -> str:
    theme: dict[str, Any] = tomllib.loads(_CONFIG.read_text(encoding="utf-8"))["theme"]
    colours = theme[name]
    values = {
        "background-color": colours["backgroundColor"],
        "secondary-background-color": colours["secondaryBackgroundColor"],
        "text-color": colours["textColor"],
        "primary-color": colours["primaryColor"],
        "link-color": colours["linkColor"],
        "border-color": colours["borderColor"],
        "red-text-color": _RED[name],
        "base-radius": theme["baseRadius"],
        "font": theme["font"],
        "chart-sequential-colors": ",".join(colours["chartSequentialColors"]),
        "chart-categorical-colors": ",".join(colours["chartCategoricalColors"]),
    }
    return "".join(f"--st-{variable}:{value};" for variable, value in values.items())
