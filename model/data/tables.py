"""Read tables of sentence pairs from text files and pasted lines; errors are sentences that say what is wrong."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from model.data.spreadsheet import sheet_rows
from model.data.task import DataError
from model.data.text_files import read_bytes, read_text
from model.data.translation_files import po_messages, tmx_units
from model.file_formats import FormatError, Headings, checked, decode
from model.user_error import readable
from model.wording import t

# Tried in this order; those that hardly occur inside sentences come first.
_CLEAR = ("\t", "→", "=>", "->", "|||", "|")
SEPARATORS = (*_CLEAR, ";", "=", ",")


class Pasted(NamedTuple):
    """Pasted pairs as the text of a file, and the ending of its name."""

    text: str
    ending: str


def pasted_table(text: str) -> Pasted:
    """Convert pasted pairs to the text of a TSV file; lines of JSON stay as they are.

    A line without the separator stays a line of one cell, which reading the table reports with its number.

    Raises:
        DataError: no separator divides at least half of the lines in two.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if (items := _json_items(text)) is not None:
        return Pasted("\n".join(json.dumps(item, ensure_ascii=False) for item in items), ".jsonl")
    if all(line.strip()[:1] == "|" == line.strip()[-1:] for line in lines if line.strip()):  # Markdown
        lines = ["" if _RULE.fullmatch(line) else line.strip()[1:-1] for line in lines]
    filled = [line for line in lines if line.strip()]
    if filled and _is_json(filled[0]):
        return Pasted("\n".join(lines), ".jsonl")
    divided = {mark: sum(_divides(line, mark) for line in filled) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: divided[mark])  # the first of equals
    enough = bool(filled) and 2 * divided[best] >= len(filled)
    if not (enough and best in _CLEAR):
        for mark in (",", ";"):
            if (unquoted := _unquoted(lines, mark)) is not None:
                return Pasted("\n".join(unquoted).rstrip("\n") + "\n", ".tsv")
    if not enough:
        raise DataError(
            "These lines are not pairs, such as “{line}”. Write a pair on each line, the source first. A tab, a "
            "comma, a semicolon or one of {marks} divides it from the target.",
            line=readable(next((line for line in filled if not _divides(line, best)), text).strip()),
            marks=" ".join(mark for mark in SEPARATORS if mark not in "\t,;"),
        )
    cells = ([cell.strip() for cell in line.split(best)] for line in lines)
    rows = ("\t".join(row) if best != "\t" else line for row, line in zip(cells, lines, strict=True))
    return Pasted("\n".join(rows).rstrip("\n") + "\n", ".tsv")


def _json_items(text: str) -> list[Any] | None:
    """The pairs of a text that is a single JSON list, or object of sources and targets; None if it is neither."""
    try:
        value = decode(text.encode())
    except FormatError:
        return None
    if isinstance(value, dict) and len(value) >= _DICTIONARY and all(isinstance(each, str) for each in value.values()):
        return list(map(list, value.items()))
    return value if isinstance(value, list) and all(isinstance(item, dict | list) for item in value) else None


def _is_json(line: str) -> bool:
    """Whether a line holds a JSON object or list."""
    try:
        return isinstance(decode(line.encode()), dict | list)
    except FormatError:
        return False


def _unquoted(lines: list[str], mark: str) -> list[str] | None:
    """The lines with tabs between cells, if most have a quoted cell, as in CSV, and can be split at this mark."""
    filled = [line for line in lines if line.strip()]
    quoted = sum(re.match(rf'\s*"|.*{mark}\s*"', line) is not None for line in filled)
    if not filled or 2 * quoted < len(filled):
        return None
    try:
        rows = list(csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True))
    except csv.Error:
        return None  # the quotation marks belong to the text
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    if sum(len(row) > 1 for row in cells) < _NEARLY_ALL * len(filled):
        return None
    return ["\t".join(row) for row in cells]


def _divides(line: str, mark: str) -> bool:
    """Whether a mark divides a line into a source and a target; a table copied from elsewhere may have more columns."""
    cells = line.split(mark)
    return all(cell.strip() for cell in cells[:2]) and (len(cells) == 2 or (mark == "\t" and len(cells) > 2))


_KINDS = {
    ".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "txt", ".xlsx": "xlsx",
    ".tmx": "tmx", ".po": "po", ".json": "txt",
}  # fmt: skip
ENDINGS = tuple(_KINDS)
_SNIFFED = 50  # rows that decide the number of columns
# Cells that identify a first row as headings.
_HEADINGS = frozenset(
    ("source", "src", "target", "tgt", "input", "output", "text", "translation", "sentence", "original", "reference",
     "question", "answer", "english", "german", "french", "hindi", "spanish", "italian", "portuguese", "dutch",
     "id", "word", "words", "reversed", "number", "digits", "iso", "name", "class", "label", "singular", "plural",
     "wort", "mehrzahl", "einzahl", "deutsch", "englisch", "quelle", "ziel", "frage", "antwort", "übersetzung",
     "français", "anglais", "español", "inglés")
)  # fmt: skip
_SEPARATOR = re.compile('^"?sep=([,;\t|])"?$')  # a first line that tells a spreadsheet how to read the others
_DICTIONARY = 10  # entries of a JSON object that is not a single pair with its headings
_RULE = re.compile(r"[\s|:-]+")  # below the headings of a table in Markdown
_LONGEST_HEADING = 3  # words
_SENTENCE_MARKS = frozenset('.,;:!?…。！？،¿¡"')
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Row:
    """One row and the line where it starts, counted from 1; `problem` says why its cells, however many, are no use."""

    line: int
    cells: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True)
class Table:
    """The rows of a file with their headings; a column without one is called by its number from 1."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    has_header: bool

    def column(self, name: str) -> int:
        """The index of a column, given by its heading (in any case) or its number from 1.

        Raises:
            DataError: there is no such column.
        """
        headings = [heading.casefold() for heading in self.columns]
        if name.casefold() in headings:
            return headings.index(name.casefold())
        if name.isdecimal() and 1 <= int(name) <= len(self.columns):
            return int(name) - 1
        raise DataError(
            "{name} has no column '{column}'; its columns are {columns}.",
            name=self.name,
            column=name,
            columns=", ".join(self.columns),
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The columns that hold numbers of rows or sentences only, where two or more columns hold texts.

        As in the exports of Tatoeba, the first column and another; or the first alone, if it counts the rows.
        """
        ids = [n for n in range(len(self.columns)) if self._is_decimal(n)]
        if len(ids) > 1 and ids[0] == 0 and len(self.columns) - len(ids) > 1:
            return tuple(ids)
        return (0,) if self._counts_rows else ()

    def _is_decimal(self, column: int) -> bool:
        cells = [row.cells[column].strip() for row in self.rows if not row.problem][:_SNIFFED]
        return len(cells) > 2 and all(cell.isdecimal() for cell in cells)

    @property
    def _counts_rows(self) -> bool:
        cells = [row.cells[0].strip() for row in self.rows if not row.problem][:_SNIFFED]
        if len(self.columns) < 3 or len(cells) < 3 or not all(cell.isdecimal() and len(cell) < 10 for cell in cells):
            return False
        numbers = list(map(int, cells))
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def read_table(
    path: Path, *, headings: Sequence[str] = (), header: bool | None = None, encoding: str | None = None
) -> Table:
    """Read the table in a text file, spreadsheet, translation memory or message catalogue; `ENDINGS` lists the kinds.

    `header`: whether the first row has headings. If None, it does if at least two of its cells are common headings or
    listed in `headings`, or if it looks unlike all other rows. A title or comment above the first row with two cells is
    an unusable row. TSV has no quoting; CSV may use semicolons; each line of JSONL is an object or a list of strings
    and numbers; text files are read as pasted lines are; `encoding` as for :func:`read_text`.

    Raises:
        DataError: the file cannot be read as a table.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise DataError(
            "{name}: name a file that ends in {endings}, or two text files line by line.",
            name=path.name,
            endings=", ".join(ENDINGS),
        )
    if kind == "tmx":
        languages, units = tmx_units(path.name, read_bytes(path))
        rows = [Row(line, cells) for line, cells in units]
        return Table(path.name, _headings(path.name, languages), tuple(rows), has_header=True)
    if kind == "xlsx":
        rows = [Row(line, cells) for line, cells in sheet_rows(path.name, read_bytes(path))]
        longest = max((len(row.cells) for row in rows), default=0)
        rows = [replace(row, cells=(*row.cells, *[""] * (longest - len(row.cells)))) for row in rows]
    else:
        text = read_text(path, encoding).replace("\r", "\n")
        if not text.strip():
            raise DataError("{name} is empty.", name=path.name)
        if kind == "txt":
            text, ending = pasted_table(text)
            kind = _KINDS[ending]
        if kind == "jsonl":
            return _jsonl(path.name, text)
        if kind == "po":
            rows = [Row(line, (left, right), problem) for line, problem, left, right in po_messages(text)]
            return Table(path.name, ("message", "translation"), tuple(rows), has_header=True)
        rows = list(_csv(path.name, text) if kind == "csv" else _tsv(text))
    if not rows:
        raise DataError("{name} has only empty rows.", name=path.name)
    width, _ = Counter(len(row.cells) for row in rows[:_SNIFFED]).most_common(1)[0]
    begin = next((n for n, row in enumerate(rows) if any(cell.strip() for cell in row.cells[1:])), 0)
    first = rows[begin].cells
    common = _HEADINGS | {heading.casefold() for heading in headings}
    has_header = header
    if has_header is None:
        others = [row.cells for row in rows[begin + 1 :] if len(row.cells) == width]
        has_header = len(first) >= width and (
            _are_common_headings(first[:width], common, others) or _looks_like_headings(first[:width], others)
        )
    names = [str(n + 1) for n in range(width)]
    if has_header:
        names = [cell.strip() or name for cell, name in zip_longest(first[:width], names, fillvalue="")]
        del rows[begin]
    return Table(path.name, _headings(path.name, tuple(names)), tuple(_checked(row, width) for row in rows), has_header)


def _are_common_headings(first: Sequence[str], common: frozenset[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether at least two cells of a first row are common headings that do not recur in their columns."""
    named = [n for n, cell in enumerate(first) if cell.strip().casefold() in common]
    recurs = any(first[n].strip().casefold() == cells[n].strip().casefold() for cells in others for n in named)
    return len(named) >= 2 and not recurs


def _looks_like_headings(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is unlike all others: short names above numbers, dates or sentences.

    One column is enough in which nearly all other cells have a digit, or are longer than any heading. The answer is no
    if a word of the first row recurs in its column.
    """
    names = [cell.strip() for cell in first]
    if len(others) < 2 or not all(map(_may_be_heading, names)):
        return False
    differs = False
    for name, column in zip(names, zip(*others, strict=True), strict=True):
        words = {word for cell in column for word in cell.casefold().split()}
        if words & set(name.casefold().split()):
            return False
        digits = sum(any(c.isdigit() for c in cell) for cell in column) >= _NEARLY_ALL * len(column)
        long = sum(len(cell.split()) > _LONGEST_HEADING for cell in column) >= _NEARLY_ALL * len(column)
        differs = differs or digits or long
    return differs


def _may_be_heading(cell: str) -> bool:
    words = cell.split()
    return 0 < len(words) <= _LONGEST_HEADING and not any(c.isdigit() or c in _SENTENCE_MARKS for c in cell)


def _headings(name: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Check headings against their format, and return them.

    Raises:
        DataError: there are too many, or one is too long or has characters that garble the text around it.
    """
    try:
        checked({"headings": columns}, Headings)
    except FormatError as error:
        raise DataError("{name} {error}", name=name, error=error) from None
    return columns


def _checked(row: Row, width: int) -> Row:
    if len(row.cells) == width:
        return row
    return replace(row, problem=t("not divided into {width} columns as the other rows are", width=width))


def _tsv(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Row(number, tuple(line.split("\t")))


def _csv(name: str, text: str) -> Iterator[Row]:
    first_line, _, rest = text.partition("\n")
    declared = _SEPARATOR.match(first_line.strip(" "))
    if declared:
        text = rest
    delimiter = declared[1] if declared else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    skipped = 1 if declared else 0
    line = 1 + skipped
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield Row(line, tuple(cells))
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        raise DataError(
            "{name} is not valid CSV from line {line} on ({error}); is a quotation mark not closed, or not doubled?",
            name=name,
            line=line,
            error=error,
        ) from error


def _delimiter(text: str) -> str:
    """The separator that splits most of the first rows into the same number of columns.

    Among equals, it is the one that is rarer in texts and numbers: 6;1,5 has a decimal comma.
    """
    lines = text.split("\n", _SNIFFED)[:_SNIFFED]

    def agreement(delimiter: str) -> int:
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=delimiter) if len(cells) > 1)
        except csv.Error:  # a cell of more than 131,072 characters
            return 0
        return max(widths.values(), default=0)

    return max(("\t", ";", ","), key=agreement)  # the first of equals


def _jsonl(name: str, text: str) -> Table:
    columns: tuple[str, ...] = ()
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cells = _strings(decode(line.encode()))
        except FormatError:
            rows.append(Row(number, (line,), t("not JSON")))
            continue
        columns = columns or tuple(cells)
        if not cells:
            rows.append(Row(number, (line,), t("not strings")))
        elif any(column not in cells for column in columns):
            rows.append(Row(number, (line,), t("keys other than those of the first line")))
        else:
            rows.append(Row(number, tuple(cells[column] for column in columns)))
    if not columns:
        raise DataError(
            '{name} holds no JSON objects with strings; a line should be like {{"source": …, "target": …}}.', name=name
        )
    return Table(name, _headings(name, columns), tuple(rows), has_header=not columns[0].isdecimal())


def _strings(value: object) -> dict[str, str]:
    """The strings and numbers of a JSON value by name, and those of a nested "translation" object (as in corpora)."""
    items: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        inner = value.get("translation")
        items = ({**value, **inner} if isinstance(inner, dict) else value).items()
    elif isinstance(value, list):
        items = enumerate(value, start=1)
    usable = ((key, cell) for key, cell in items if isinstance(cell, str | int | float) and not isinstance(cell, bool))
    return {str(key): str(cell) for key, cell in usable}
