"""The maps on screen as PNG, SVG and PDF at publication quality: no browser, no network, no global state.

matplotlib is imported at the first export, and pyplot never: one process serves many sessions, so figures are plain
objects. Its settings are still global, so only one figure is drawn at a time.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from explorer.decoding.shown_maps import ShownMaps
from explorer.files.fonts import fonts_for
from explorer.files.matplotlib_maps import figure_of, texts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["png", "svg", "pdf"]
DPI = 300
_ONE_AT_A_TIME = threading.Lock()

_SETTINGS: dict[str, Any] = {
    "font.size": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "hatch.linewidth": 0.4,
    "svg.fonttype": "none",  # text stays text: searchable, and drawn with the reader's own fonts
    "svg.hashsalt": "headlight",  # equal figures give equal files
    "pdf.fonttype": 42,  # TrueType outlines, which publishers ask for
    "text.parse_math": False,  # a token may hold dollar signs
}


@dataclass(frozen=True)
class Drawing:
    """The content of a figure file, and the characters that no font on this machine has (drawn as empty boxes)."""

    content: bytes
    missing: str

    @property
    def note(self) -> str:
        """A sentence about the missing characters; empty if there are none."""
        if not self.missing:
            return ""
        shown = " ".join(self.missing[:12]) + (" …" if len(self.missing) > 12 else "")
        return f"No font on this machine has {shown}: boxes are drawn instead (in SVG, the reader's fonts decide)."


def draw(shown: ShownMaps, kind: Format) -> Drawing:
    """The maps on screen as a file; layers and heads are labelled from 1, masked cells are hatched."""
    with drawing(texts_of(shown)) as missing:
        return Drawing(_save(figure_of(shown), kind), missing)


@contextmanager
def drawing(texts: Iterable[str]) -> Iterator[str]:
    """Draw figures with these texts, with our settings and nobody else; gives the characters that no font has."""
    import matplotlib as mpl

    families, missing = fonts_for(texts)
    settings: Any = _SETTINGS | {"font.family": families}
    with _ONE_AT_A_TIME, mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the note about `missing` tells the reader
        yield missing


def _save(figure: Figure, kind: Format) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.BytesIO()
    canvas = {"png": FigureCanvasAgg, "svg": FigureCanvasSVG, "pdf": FigureCanvasPdf}[kind](figure)
    # No date, and no metadata that would name other hosts.
    metadata = {
        "png": {"Software": "Headlight"},
        "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
        "pdf": {"Creator": "Headlight", "CreationDate": None},
    }[kind]
    canvas.print_figure(file, format=kind, dpi=DPI, bbox_inches="tight", pad_inches=0.05, metadata=metadata)
    return file.getvalue()
