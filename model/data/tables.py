"""Reading text files that users provide: rows with their line numbers, or a sentence that says what is wrong."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.data.task import DataError
from model.file_formats import FormatError, Headings, check, decode

MAX_BYTES = 100 * 2**20
_KINDS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_SNIFFED = 50  # rows that decide the number of columns
# Cells that mark a first row as headings.
_HEADINGS = frozenset(
    ("source", "src", "target", "tgt", "input", "output", "text", "translation", "sentence", "original", "reference",
     "question", "answer", "english", "german", "french", "hindi", "spanish", "italian", "portuguese", "dutch")
)  # fmt: skip
_LONGEST_HEADING = 3  # words
_SENTENCE_MARKS = frozenset('.,;:!?…。！？،¿¡"')
_NEARLY_ALL = 0.9
_FOREIGN = {
    b"\x1f\x8b": "is compressed; unpack it first",
    b"PK\x03\x04": "is a spreadsheet or an archive; export it as CSV, or unpack it",
    b"\xff\xfe": "is UTF-16; save it as UTF-8",
    b"\xfe\xff": "is UTF-16; save it as UTF-8",
}


@dataclass(frozen=True)
class Row:
    """One row and the line where it starts, counted from 1; `problem` says why its cells cannot be used."""

    line: int
    cells: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True)
class Table:
    """The rows of a file with their headings; columns of a file without headings are called "1", "2", …"""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    has_header: bool

    def column(self, wanted: str) -> int:
        """The index of a column, given by its heading (in any case) or its number from 1.

        Raises:
            DataError: there is no such column.
        """
        headings = [heading.casefold() for heading in self.columns]
        if wanted.casefold() in headings:
            return headings.index(wanted.casefold())
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.columns):
            return int(wanted) - 1
        raise DataError(f"{self.name} has no column '{wanted}'; its columns are {', '.join(self.columns)}.")


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark, with every line ending as a single newline.

    Raises:
        DataError: the file is missing, too large, not text, or not UTF-8; the message names the line.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DataError(
                f"{path.name} has {size / 2**20:.0f} MB; at most {MAX_BYTES / 2**20:.0f} MB are read. Use a part of it."
            )
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path.name} cannot be read ({error.strerror or error}); check its name and location."
        ) from error
    for beginning, what in _FOREIGN.items():
        if data.startswith(beginning):
            raise DataError(f"{path.name} {what}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path.name} is not UTF-8: line {line} holds the byte 0x{data[error.start]:02X}. Save it as UTF-8."
        ) from error
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise DataError(f"{path.name} is not a text file: line {line} holds a zero byte.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without empty ones at the end."""
    return read_text(path).rstrip("\n").split("\n")


def read_table(path: Path, *, headings: Sequence[str] = (), header: bool | None = None) -> Table:
    """The table in a TSV, CSV or JSONL file.

    `header` says whether the first row holds headings. Without it, the row does if at least two of its cells are common
    headings or listed in `headings`, or if it looks unlike all other rows. TSV has no quoting; CSV may use semicolons;
    each line of JSONL is an object of strings or a list of strings.

    Raises:
        DataError: the file cannot be read as a table.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"{path.name}: name a file that ends in .tsv, .csv or .jsonl, or two text files line by line.")
    text = read_text(path)
    if not text.strip():
        raise DataError(f"{path.name} is empty.")
    if kind == "jsonl":
        return _jsonl(path.name, text)
    rows = list(_csv(path.name, text) if kind == "csv" else _tsv(text))
    if not rows:
        raise DataError(f"{path.name} has only empty rows.")
    width, _ = Counter(len(row.cells) for row in rows[:_SNIFFED]).most_common(1)[0]
    first = rows[0].cells
    known = _HEADINGS | {heading.casefold() for heading in headings}
    has_header = header
    if has_header is None:
        named = sum(cell.strip().casefold() in known for cell in first)
        has_header = named >= 2 or _looks_like_headings(
            first, [row.cells for row in rows[1:] if len(row.cells) == width]
        )
    if has_header:
        width, rows = len(first), rows[1:]
    columns = tuple(cell.strip() for cell in first) if has_header else tuple(str(n + 1) for n in range(width))
    return Table(path.name, _headings(path.name, columns), tuple(_checked(row, width) for row in rows), has_header)


def _looks_like_headings(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is unlike all others: short names above numbers, dates or sentences.

    A column decides if nearly all of its other cells hold a digit, or are longer than any heading, and the first cell
    does not; a word of the first row that occurs again in its column speaks against it.
    """
    names = [cell.strip() for cell in first]
    if len(others) < 2 or not all(map(_may_be_heading, names)):
        return False
    telling = False
    for name, column in zip(names, zip(*others, strict=True), strict=True):
        words = {word for cell in column for word in cell.casefold().split()}
        if words & set(name.casefold().split()):
            return False
        digits = sum(any(c.isdigit() for c in cell) for cell in column) >= _NEARLY_ALL * len(column)
        long = sum(len(cell.split()) > _LONGEST_HEADING for cell in column) >= _NEARLY_ALL * len(column)
        telling = telling or digits or long
    return telling


def _may_be_heading(cell: str) -> bool:
    words = cell.split()
    return 0 < len(words) <= _LONGEST_HEADING and not any(c.isdigit() or c in _SENTENCE_MARKS for c in cell)


def _headings(name: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The headings, if they can be shown in a box to choose from.

    Raises:
        DataError: there are too many, or one is too long or holds what changes the text around it.
    """
    try:
        check({"headings": columns}, Headings)
    except FormatError as unfit:
        raise DataError(f"{name} {unfit}") from None
    return columns


def _checked(row: Row, width: int) -> Row:
    if len(row.cells) == width:
        return row
    return Row(row.line, (), f"a number of columns other than {width}")


def _tsv(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Row(number, tuple(line.split("\t")))


def _csv(name: str, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield Row(line, tuple(cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{name} is not valid CSV from line {line} on ({error}); is a quotation mark not closed, or not doubled?"
        ) from error


def _delimiter(text: str) -> str:
    """The separator that cuts the most of the first rows into the same number of columns."""
    lines = text.split("\n", _SNIFFED)[:_SNIFFED]

    def agreement(delimiter: str) -> int:
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=delimiter) if len(cells) > 1)
        except csv.Error:  # a cell of more than 131,072 characters
            return 0
        return max(widths.values(), default=0)

    return max((",", ";", "\t"), key=agreement)


def _jsonl(name: str, text: str) -> Table:
    columns: tuple[str, ...] = ()
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cells = _strings(decode(line.encode()))
        except FormatError:
            rows.append(Row(number, (), "not JSON"))
            continue
        columns = columns or tuple(cells)
        if not cells:
            rows.append(Row(number, (), "not strings"))
        elif any(column not in cells for column in columns):
            rows.append(Row(number, (), "keys other than those of the first line"))
        else:
            rows.append(Row(number, tuple(cells[column] for column in columns)))
    if not columns:
        raise DataError(
            f'{name} holds no JSON objects with strings; a line should be like {{"source": …, "target": …}}.'
        )
    return Table(name, _headings(name, columns), tuple(rows), has_header=not columns[0].isdecimal())


def _strings(value: object) -> dict[str, str]:
    """The strings of one JSON value by name, including those of a nested "translation" object (common in corpora)."""
    if isinstance(value, dict):
        inner = value.get("translation")
        merged = {**value, **inner} if isinstance(inner, dict) else value
        return {str(key): cell for key, cell in merged.items() if isinstance(cell, str)}
    if isinstance(value, list):
        return {str(n): cell for n, cell in enumerate(value, start=1) if isinstance(cell, str)}
    return {}
