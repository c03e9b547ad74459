"""Draw pictures as PNG, SVG or PDF at publication quality, or as frames, without a browser.

matplotlib is imported at the first export. pyplot is never imported: one process serves many sessions, so figures are
plain objects. Since matplotlib's settings are global, only one figure is drawn at a time. matplotlib shapes Arabic and
Hebrew by itself (since 3.11); Pillow can draw neither PDF nor smooth curves.
"""

from __future__ import annotations

import io
import threading
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import LIGHT
from explorer.decoding.shown_maps import ShownMaps
from explorer.files.map_picture import picture_of
from explorer.files.picture import Box, Curve, Mark, Picture, Text
from explorer.locale.messages import t

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

Format = Literal["png", "svg", "pdf"]
DPI = 300
_ONE_AT_A_TIME = threading.Lock()

_SETTINGS: dict[str, Any] = {
    "hatch.linewidth": 0.4,
    "svg.fonttype": "none",  # text stays text, searchable and drawn with the reader's own fonts
    "svg.hashsalt": "headlight",  # equal figures give equal files
    "pdf.fonttype": 42,  # TrueType outlines, which publishers require
    "text.parse_math": False,  # a token may contain dollar signs
}

FIRST_FONT = "DejaVu Sans"  # comes with matplotlib, so it is always installed
# Prefixes of the names of system fonts for other scripts, the most similar first. Colour fonts are left out, since they
# have no outlines.
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "PingFang",
    "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic", "MS Gothic", "Malgun Gothic", "Nirmala UI",
    "Kohinoor", "Mangal", "Geeza Pro", "Tahoma", "Noto Emoji", "Symbola", "Segoe UI Symbol", "Segoe UI Emoji",
    "Apple Symbols", "Arial Unicode MS",
)  # fmt: skip
_PLAIN, _ALSO_PLAIN = "\u0250", "–—…→‖“”‘’·×÷√α−"  # characters in the first font
_INVISIBLE = ("Cf", "Zs", "Mn", "Me", "Cc")


def draw(view: ShownMaps, kind: Format) -> bytes:
    """Draw the maps on screen as a file; layers and heads are labelled from 1, masked cells are hatched."""
    picture = picture_of(view)
    with _settings(picture.texts):
        return _save(_figure(picture), kind)


def missing_note(texts: Iterable[str]) -> str:
    """State which characters of the texts of a picture no font on this machine has; empty if there are none."""
    texts = tuple(texts)
    if all(letter < _PLAIN or letter in _ALSO_PLAIN for text in texts for letter in text):
        return ""  # without importing matplotlib
    _, missing = fonts_for(texts)
    if not missing:
        return ""
    letters = " ".join(missing[:12]) + (" …" if len(missing) > 12 else "")
    return t(
        "No font on this machine has {letters}: boxes are drawn instead (in SVG, the reader's fonts decide).",
        letters=letters,
    )


def frames(pictures: Iterable[Picture], texts: Iterable[str], dpi: int) -> Iterator[Image]:
    """Yield pictures of one size as images; `texts` are those of all pictures."""
    from PIL import Image as _Image

    with _settings(texts):
        for picture in pictures:
            file = io.BytesIO()
            _figure(picture).savefig(file, format="png", dpi=dpi)
            yield _Image.open(file).convert("RGB")


@contextmanager
def _settings(texts: Iterable[str]) -> Iterator[None]:
    """Set up matplotlib for figures with these texts, while no other thread draws."""
    import matplotlib as mpl

    settings: Any = _SETTINGS | {"font.family": fonts_for(texts)[0]}
    with _ONE_AT_A_TIME, mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # see :func:`missing_note`
        yield


def _figure(picture: Picture) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(picture.width, picture.height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    for order, mark in enumerate(picture.marks):
        _draw_mark(axes, mark, order)
    axes.set_xlim(0, picture.width)
    axes.set_ylim(picture.height, 0)
    return figure


def _draw_mark(axes: Axes, mark: Mark, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
    from matplotlib.path import Path

    where: dict[str, Any] = {"zorder": order, "clip_on": False}
    if isinstance(mark, Text):
        look: dict[str, Any] = {"fontsize": mark.size, "color": mark.colour, **where}
        look |= {"linespacing": 1.35} if "\n" in mark.text else {}
        turn, weight = 90 * mark.upright, "bold" if mark.bold else "normal"
        axes.text(mark.x, mark.y, mark.text, ha=mark.across, va=mark.down, rotation=turn, fontweight=weight, **look)
    elif isinstance(mark, Box):
        look = {"fc": mark.fill or "none", "ec": mark.edge or "none", "lw": mark.line if mark.edge else 0, **where}
        if mark.rounding:
            style = f"round,pad=0,rounding_size={mark.rounding}"
            axes.add_artist(FancyBboxPatch((mark.x, mark.y), mark.width, mark.height, boxstyle=style, **look))
        else:
            hatch = "////" if mark.hatched else None
            axes.add_artist(Rectangle((mark.x, mark.y), mark.width, mark.height, hatch=hatch, **look))
    elif isinstance(mark, Curve):
        look = {"ec": mark.colour, "lw": mark.width, "alpha": mark.alpha, "ls": (0, mark.dashes or None), **where}
        bend = Path.CURVE4 if len(mark.points) == 4 else Path.LINETO
        path = Path(mark.points, [Path.MOVETO, *[bend] * (len(mark.points) - 1)])
        axes.add_artist(PathPatch(path, fc="none", **look))
    else:
        rows, columns = mark.masked.shape
        extent = (mark.x, mark.x + mark.width, mark.y + mark.height, mark.y)
        axes.imshow(mark.colours, extent=extent, interpolation="none", aspect="auto", **where)
        wide, high = mark.width / columns, mark.height / rows
        for row, start, end in masked_runs(mark.masked):
            corner = mark.x + start * wide, mark.y + row * high
            look = {"fill": False, "hatch": "/////", "ec": LIGHT.hatch, "lw": 0, **where}
            axes.add_artist(Rectangle(corner, (end - start) * wide, high, **look))


def masked_runs(masked: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Yield row, first column and end of each run of masked cells."""
    for row, cells in enumerate(masked):
        start = 0
        for closed, run in groupby(map(bool, cells)):
            end = start + sum(1 for _ in run)
            if closed:
                yield row, start, end
            start = end


def _save(figure: Figure, kind: Format) -> bytes:
    # No dates, and no metadata with addresses of other hosts.
    metadata: dict[Format, dict[str, Any]] = {
        "png": {"Software": "Headlight"},
        "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
        "pdf": {"Creator": "Headlight", "CreationDate": None},
    }
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=DPI, bbox_inches="tight", pad_inches=0.05, metadata=metadata[kind])
    return file.getvalue()


def fonts_for(texts: Iterable[str]) -> tuple[list[str], str]:
    """Choose font families for some texts, best first; also returns the characters that none of them has, sorted."""
    needed = {c for text in texts for c in text if unicodedata.category(c) not in _INVISIBLE}
    families = [FIRST_FONT]
    missing = needed - _characters(FIRST_FONT)
    others = (name for start in OTHER_FONTS for name in sorted(_installed()) if name.startswith(start))
    for family in others if missing else ():
        if "Color" not in family and (covered := missing & _characters(family)):
            families.append(family)
            missing -= covered
    return families, "".join(sorted(missing))


@lru_cache(maxsize=256)
def _characters(family: str) -> frozenset[str]:
    """The characters of an installed font family."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(_installed()[family]).get_charmap()))
    except (OSError, RuntimeError):  # the font file is damaged or was removed
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
