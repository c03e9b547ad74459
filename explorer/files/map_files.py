"""A single map as files: its figure as PNG, SVG or PDF, and its numbers as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import partial

from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_text import ViewOptions
from explorer.files.data_files import mask_word
from explorer.files.figure_files import Format, draw
from model.trace import VISIBLE

TYPES: dict[str, str] = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
}


def map_files(shown: LabelledMap, caption: str) -> dict[str, Callable[[], bytes]]:
    """A function per format that makes the file: PNG, SVG and PDF with title, labels and `caption`, and CSV."""
    figures: tuple[Format, ...] = ("png", "svg", "pdf")
    return {**{kind: partial(_figure, shown, caption, kind) for kind in figures}, "csv": partial(map_csv, shown)}


def map_csv(shown: LabelledMap) -> bytes:
    """Every cell, one row per cell, in UTF-8; the column of numbers is named after the map's unit, empty where masked.

    Numbers are the shortest decimals that read back as the same float32; each token follows its position.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("map", "query", "predicts", "key", shown.unit, "mask"))
    for query, label in enumerate(shown.row_labels):
        predicts = f"{shown.first_row + query + 1} {shown.predicted[query]}" if shown.predicted else ""
        for key, column in enumerate(shown.column_labels):
            code = int(shown.mask[query, key])
            value = "" if code != VISIBLE else str(shown.values[query, key])
            writer.writerow((shown.title, label, predicts, column, value, mask_word(code)))
    # The byte order mark tells spreadsheets that this is UTF-8.
    return text.getvalue().encode("utf-8-sig")


def map_stem(shown: LabelledMap, prefix: str) -> str:
    """A file name without extension that every system accepts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{prefix}-{shown.title}").strip("-.")[:100] or "map"


def _figure(shown: LabelledMap, caption: str, kind: Format) -> bytes:
    alone = ShownMaps(shown.title, caption, (shown,), (), ("",), ViewOptions(view="head"), row=0)
    return draw(alone, kind).content
