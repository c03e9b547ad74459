"""Fonts for exported figures: those installed on this machine that have the characters needed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

FIRST = "DejaVu Sans"  # comes with matplotlib, so it is always installed
SCRIPTS = (
    "Devanagari",
    "Arabic",
    "Hebrew",
    "Bengali",
    "Tamil",
    "Telugu",
    "Gujarati",
    "Gurmukhi",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Georgian",
    "Armenian",
    "Ethiopic",
    "Symbols",
    "Symbols2",
    "Math",
)
# Fonts that systems bring for other scripts, the most similar first. Colour fonts are left out: they have no outlines.
OTHERS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "MS Gothic",
    "Malgun Gothic",
    *(f"Noto Sans {script}" for script in SCRIPTS),
    "Nirmala UI",
    "Kohinoor Devanagari",
    "Mangal",
    "Geeza Pro",
    "Tahoma",
    "Noto Emoji",
    "Symbola",
    "Segoe UI Symbol",
    "Segoe UI Emoji",
    "Apple Symbols",
    "Arial Unicode MS",
)
_INVISIBLE = ("Cf", "Zs", "Mn", "Me", "Cc")


def fonts_for(texts: Iterable[str]) -> tuple[list[str], str]:
    """Font families for some texts, best first, and the characters that none of them has, sorted."""
    needed = {c for text in texts for c in text if unicodedata.category(c) not in _INVISIBLE}
    families = [FIRST]
    missing = needed - _characters(FIRST)
    for family in OTHERS:
        if not missing:
            break
        if covered := missing & _characters(family):
            families.append(family)
            missing -= covered
    return families, "".join(sorted(missing))


@lru_cache(maxsize=len(OTHERS) + 1)
def _characters(family: str) -> frozenset[str]:
    """The characters of a family; none if it is not installed."""
    path = _installed().get(family)
    if path is None:
        return frozenset()
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # a font file that is damaged or was removed
        return frozenset()


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """Files of upright regular fonts, by family name."""
    from matplotlib import font_manager

    files: dict[str, str] = {}
    for entry in font_manager.fontManager.ttflist:
        if entry.style == "normal" and str(entry.weight) in ("400", "normal", "regular", "book"):
            files.setdefault(entry.name, entry.fname)
    return files
