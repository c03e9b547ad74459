"""Write CSV files: tables without formulas, and maps cell by cell with a column for the mask.

Files are UTF-8 with a byte order mark, so that spreadsheets recognise the encoding.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.shown_maps import ShownMaps
from explorer.locale.messages import message, t, translated
from model.trace import FUTURE, VISIBLE

Rows = Sequence[Mapping[str, Any]]
Columns = Mapping[str, Sequence[Any]]
CSV_COLUMNS = (
    *(message("kind"), message("layer"), message("head"), message("query"), message("predicts"), message("key")),
    *(message("weight"), message("mask")),
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last four are full-width forms
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def table_csv(table: Rows | Columns) -> bytes:
    """Write rows, or columns by name, with a header.

    Text that a spreadsheet would read as a formula gets an apostrophe in front; numbers stay numbers.
    """
    if isinstance(table, Mapping):
        names, rows = list(table), list(zip(*table.values(), strict=True))
    else:
        names = list(dict.fromkeys(name for row in table for name in row))
        rows = [tuple(row.get(name) for name in names) for row in table]
    # Lines end as RFC 4180 requires, so that both kinds of line breaks in a cell are quoted.
    return _csv([names, *rows], "\r\n", harmless)


def harmless(value: Any) -> Any:
    """Make a cell that no spreadsheet reads as a formula; text that is a number is left alone."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value


def maps_csv(view: ShownMaps) -> bytes:
    """Write every cell of the maps on screen, one row per cell; weights are empty where masked.

    Layers, heads and positions count from 1; head 0 is the mean over the heads.
    """
    pairs = zip(view.places, view.maps, strict=True)
    cells = ((at.kind, at.layer, at.head, *cell) for at, map_ in pairs for cell in _cells(map_))
    return _csv([map(translated, CSV_COLUMNS), *cells])


def map_csv(map_: LabelledMap) -> bytes:
    """Write every cell of a map, one row per cell; the column of numbers is named after the map's unit."""
    header = (t("map"), t("query"), t("predicts"), t("key"), map_.quantity, t("mask"))
    return _csv([header, *((map_.title, *cell) for cell in _cells(map_))])


def mask_word(code: int) -> str:
    """Why a cell is masked: "future" or "padding"; "" if it is visible."""
    return {VISIBLE: "", FUTURE: "future"}.get(int(code), "padding")


def _cells(map_: LabelledMap) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield query, predicted token, key, number and mask of every cell.

    Numbers are the shortest decimals that read back as the same float32. Each token follows its position ("3 the"), so
    that repeated words stay apart and no token can start a formula.
    """
    for query, label in enumerate(map_.row_labels):
        predicts = map_.predicted_labels[query] if map_.predicted else ""
        for key, column in enumerate(map_.column_labels):
            code = int(map_.mask[query, key])
            yield label, predicts, column, "" if code != VISIBLE else str(map_.values[query, key]), mask_word(code)


def _csv(rows: Iterable[Iterable[Any]], line_end: str = "\n", convert: Any = lambda cell: cell) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end).writerows([convert(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")
