"""Read the first sheet of an .xlsx file that anybody may have made: bounded in size, without entities."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from model.data.task import DataError

MAX_UNPACKED = 200 * 2**20
MAX_PARTS = 2000
MAX_CELLS = 4_000_000
MAX_ROWS = 1_100_000  # a sheet has at most 1,048,576
_PARTS = re.compile(r".*\.(?:xml|rels)", re.IGNORECASE)  # pictures and macros are not read
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def sheet_rows(name: str, data: bytes) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The filled rows of the first sheet as texts, each with its number; formulas give their stored values.

    Raises:
        DataError: it is no spreadsheet, needs a password, or would unpack to more than the limits.
    """
    import openpyxl  # takes a quarter of a second

    try:
        book = openpyxl.load_workbook(_unpacked(name, data), read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # a file may claim more cells than it has
        cells = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            cells += len(row)
            if cells > MAX_CELLS or number > MAX_ROWS:
                raise DataError(
                    "the first sheet of {name} has more than {max_cells:,} cells; use a part of it.",
                    name=name,
                    max_cells=MAX_CELLS,
                )
            texts = [_text(value) for value in row]
            while texts and not texts[-1].strip():
                texts.pop()
            if texts:
                yield number, tuple(texts)
    except DataError:
        raise
    # Damaged sheets raise whatever the reader meets first.
    except Exception as error:
        raise DataError(
            "{name} cannot be read as a spreadsheet ({error}); export it as CSV.",
            name=name,
            error=type(error).__name__,
        ) from error


def _unpacked(name: str, data: bytes) -> io.BytesIO:
    """The XML parts of the file in a new archive that is not compressed, after a check of each.

    The reader never sees the original, so that what was checked is what is read.
    """
    parts = io.BytesIO()
    left = MAX_UNPACKED
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(parts, "w") as checked:
            infos = archive.infolist()
            if len(infos) > MAX_PARTS:
                raise DataError(
                    "{name} holds {infos:,} parts, which no spreadsheet needs.", name=name, infos=len(infos)
                )
            for info in infos:
                if not _PARTS.fullmatch(info.filename):
                    continue
                with archive.open(info) as part:
                    content = part.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise DataError(
                        "{name} unpacks to more than {max_unpacked:.0f} MB; use a part of it.",
                        name=name,
                        max_unpacked=MAX_UNPACKED / 2**20,
                    )
                if b"\x00" in content or _DECLARATION.search(content):
                    raise DataError("{name} declares entities, which are not read; export it as CSV.", name=name)
                checked.writestr(info.filename, content)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise DataError(
            "{name} cannot be unpacked ({error}); save it without a password, or export it as CSV.",
            name=name,
            error=error,
        ) from error
    return parts


def _text(value: object) -> str:
    """A cell as text on one line: 6 and not 6.0, and dates as 2026-11-25."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return " ".join(str(value).split())
