"""Download buttons for the maps on screen; each file is made when its button is pressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from explorer.byte_cache import cached
from explorer.decoding.coordinates import Place
from explorer.decoding.shown_maps import ShownMaps, shown_maps
from explorer.files.data_files import csv_bytes, file_stem, npz_bytes
from explorer.files.figure_files import Drawing, Format, draw
from explorer.files.fonts import fonts_for
from explorer.files.html_page import page_bytes
from explorer.files.matplotlib_maps import texts_of
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.downloads import download_button
from model.config import AttentionKind
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
    trace_of: Callable[[], AttentionTrace],
    at: Place,
    view: str,
    *,
    seq: str,
    model: str,
    facts: tuple[str, ...],
    key: str,
    manifest: Callable[[], str] | None = None,
) -> None:
    """One button per format, and a sentence about what the files cannot show; `seq` identifies the decoding.

    The server holds on to what makes a button's file for as long as the page is open, and longer: therefore
    `trace_of` returns the trace when it is asked for, and holds no arrays itself.
    """

    def sheet_of() -> ShownMaps:
        return shown_maps(trace_of(), at, view, facts=facts)

    try:
        files = _about(seq, at, view, model, sheet_of)
    except ValueError as empty:
        st.info(plain(str(empty)))
        return
    st.caption(plain(f"On screen: {files.caption}"))
    makers = _makers(sheet_of, trace_of, files.kinds, manifest)
    with st.container(horizontal=True):
        for kind, (name, mime, about) in TYPES.items():
            file_name = f"{files.stem}.{kind}"
            download_button(name, makers[kind], file_name, mime, key=f"{key}_{kind}", help=about)
    if files.notes:
        st.caption(plain(files.notes))


@dataclass(frozen=True)
class _About:
    """What is said of the files: without the maps, which another cache holds."""

    caption: str
    kinds: tuple[AttentionKind, ...]
    stem: str
    notes: str


@cached
def _about(seq: str, at: Place, view: str, model: str, _sheet_of: Callable[[], ShownMaps]) -> _About:
    del seq  # part of the key: it identifies the trace
    sheet = _sheet_of()
    return _About(
        caption=f"{sheet.title}. {sheet.caption}",
        kinds=tuple(dict.fromkeys(place.kind for place in sheet.places)),
        stem=file_stem(sheet, model),
        notes=" ".join(filter(None, (_beside(sheet), _fonts(sheet)))),
    )


def _makers(
    sheet_of: Callable[[], ShownMaps],
    trace_of: Callable[[], AttentionTrace],
    kinds: tuple[AttentionKind, ...],
    manifest: Callable[[], str] | None,
) -> dict[str, Callable[[], bytes]]:
    """A function per format that makes the file."""
    return {
        "csv": lambda: csv_bytes(sheet_of()),
        "npz": lambda: npz_bytes(trace_of(), kinds),
        "html": lambda: _page(sheet_of(), manifest),
        "png": lambda: _figure(sheet_of(), "png"),
        "svg": lambda: _figure(sheet_of(), "svg"),
        "pdf": lambda: _figure(sheet_of(), "pdf"),
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
