"""A table on screen as a CSV file in which no cell begins a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Columns = Mapping[str, Sequence[Any]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last are the same in full width

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def table_csv(table: Rows | Columns) -> bytes:
    """Write rows, or columns by name, as CSV with a header, in UTF-8 with its mark, as spreadsheets expect it.

    Text that a spreadsheet would read as a formula gets an apostrophe in front; numbers stay numbers.
    """
    rows = _rows(table) if isinstance(table, Mapping) else table
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text)  # lines end as RFC 4180 has it, so that both kinds of line breaks in a cell are quoted
    writer.writerow(map(harmless, names))
    writer.writerows([harmless(row.get(name)) for name in names] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet reads as a formula; a number that is written out is none."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
