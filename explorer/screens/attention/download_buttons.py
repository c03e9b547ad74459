"""Download buttons for the maps on screen; each file is made when its button is pressed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.attention.shown_maps import ShownMaps, shown_maps
from explorer.export.data_files import csv_bytes, file_stem, npz_bytes
from explorer.export.figure_files import Drawing, Format, draw
from explorer.export.fonts import fonts_for
from explorer.export.html_page import page_bytes
from explorer.export.matplotlib_maps import texts_of
from explorer.text import plain
from explorer.web import runtime
from explorer.web.downloads import download_button
from model.trace import AttentionTrace

_PLAIN, _ALSO_PLAIN = "\u0250", "–—…→‖“”‘’·×÷√α"  # characters that all fonts of matplotlib have
TYPES = {
    "png": ("PNG", "image/png", "An image with 300 dots per inch."),
    "svg": ("SVG", "image/svg+xml", "A vector drawing whose text stays text."),
    "pdf": ("PDF", "application/pdf", "A vector drawing for papers, with its fonts embedded."),
    "csv": ("CSV", "text/csv", "Every number on screen; masked cells are empty, and a column says why."),
    "npz": ("NPZ", "application/octet-stream", "All heads of the kind in view, for numpy, with masks and tokens."),
    "html": ("HTML", "text/html", "One page with figure, words and numbers that works offline."),
}


def draw_downloads(
    trace: AttentionTrace,
    at: Place,
    view: str,
    *,
    seq: str,
    model: str,
    facts: tuple[str, ...],
    key: str,
    manifest: Callable[[], str] | None = None,
) -> None:
    """One button per format, and a sentence about what the files cannot show; `seq` identifies the decoding."""
    try:
        sheet = _sheet(seq, at, view, facts, trace)
    except ValueError as empty:
        st.info(plain(str(empty)))
        return
    st.caption(plain(f"On screen: {sheet.title}. {sheet.caption}"))
    makers = _makers(sheet, trace, manifest)
    with st.container(horizontal=True):
        for kind, (name, mime, about) in TYPES.items():
            file_name = f"{file_stem(sheet, model)}.{kind}"
            download_button(name, makers[kind], file_name, mime, key=f"{key}_{kind}", help=about)
    if notes := " ".join(filter(None, (_beside(sheet), _fonts(sheet)))):
        st.caption(plain(notes))


@st.cache_resource(max_entries=32, show_spinner=False)
def _sheet(seq: str, at: Place, view: str, facts: tuple[str, ...], _trace: AttentionTrace) -> ShownMaps:
    del seq  # part of the key: it identifies the trace
    return shown_maps(_trace, at, view, facts=facts)


def _makers(
    sheet: ShownMaps, trace: AttentionTrace, manifest: Callable[[], str] | None
) -> dict[str, Callable[[], bytes]]:
    """A function per format that makes the file."""
    kinds = tuple(dict.fromkeys(place.kind for place in sheet.places))
    return {
        "csv": partial(csv_bytes, sheet),
        "npz": partial(npz_bytes, trace, kinds),
        "html": partial(_page, sheet, manifest),
        **{kind: partial(_figure, sheet, kind) for kind in ("png", "svg", "pdf")},
    }


def _figure(sheet: ShownMaps, kind: Format) -> bytes:
    content = draw(sheet, kind).content
    _freeze()
    return content


def _page(sheet: ShownMaps, manifest: Callable[[], str] | None) -> bytes:
    return page_bytes(sheet, _figure(sheet, "svg"), manifest() if manifest else "")


@lru_cache(maxsize=1)
def _freeze() -> None:
    """Once, after matplotlib is imported: the garbage collector then need not scan it after every run."""
    runtime.freeze()


def _beside(sheet: ShownMaps) -> str:
    if sheet.options.beside and sheet.options.view == "head":
        return "Of the maps side by side, the one in focus is exported."
    return ""


def _fonts(sheet: ShownMaps) -> str:
    """Which characters will be drawn as boxes; fonts are searched only if there may be any."""
    texts = list(texts_of(sheet))
    if all(c < _PLAIN or c in _ALSO_PLAIN for text in texts for c in text):
        return ""
    return Drawing(b"", fonts_for(texts)[1]).note
