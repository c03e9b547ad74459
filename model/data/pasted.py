"""Sentence pairs that a person types or pastes: a line each, in whatever way the two sides are told apart."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from model.data.task import DataError
from model.file_formats import FormatError, decode

# Tried in this order: what hardly occurs inside a sentence comes first.
_CLEAR = ("\t", "→", "=>", "->", "|||", "|")
SEPARATORS = (*_CLEAR, ";", "=", ",")
_NEARLY_ALL = 0.9
_NAMES = {"\t": "a tab", ",": "a comma", ";": "a semicolon"}


class Pasted(NamedTuple):
    """Pasted pairs as the text of a file, the ending of its name, and what separates source and target in words."""

    text: str
    ending: str
    separator: str


def pasted_table(text: str) -> Pasted:
    """The pasted pairs as the text of a TSV file, or as they are if each line is an object or list of JSON.

    A line without the separator stays a line of one cell, which reading the table reports with its number.

    Raises:
        DataError: no separator divides at least half of the lines in two.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [line for line in lines if line.strip()]
    if filled and _is_json(filled[0]):
        return Pasted("\n".join(lines), ".jsonl", "JSON")
    divided = {mark: sum(_divides(line, mark) for line in filled) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: divided[mark])  # the first of equals
    found = bool(filled) and 2 * divided[best] >= len(filled)
    if not (found and best in _CLEAR):
        for mark in (",", ";"):
            if (cut := _unquoted(lines, mark)) is not None:
                return Pasted("\n".join(cut).rstrip("\n") + "\n", ".tsv", _NAMES[mark])
    if not found:
        raise DataError(
            "these lines are not pairs: write a pair on each line, first the source, then a tab, a comma or an arrow "
            "(->), then the target."
        )
    cells = ([cell.strip() for cell in line.split(best)] for line in lines)
    rows = ("\t".join(row) if best != "\t" else line for row, line in zip(cells, lines, strict=True))
    return Pasted("\n".join(rows).rstrip("\n") + "\n", ".tsv", _NAMES.get(best, f"“{best}”"))


def _is_json(line: str) -> bool:
    """Whether a line holds a JSON object or list."""
    try:
        return isinstance(decode(line.encode()), dict | list)
    except FormatError:
        return False


def _unquoted(lines: list[str], mark: str) -> list[str] | None:
    """The lines with tabs between their cells, if most have a quoted cell, as in CSV, and can be cut at this mark."""
    filled = [line for line in lines if line.strip()]
    quoted = sum(re.match(rf'\s*"|.*{mark}\s*"', line) is not None for line in filled)
    if not filled or 2 * quoted < len(filled):
        return None
    try:
        rows = list(csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True))
    except csv.Error:
        return None  # a quotation mark is a part of the text
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    if sum(len(row) > 1 for row in cells) < _NEARLY_ALL * len(filled):
        return None
    return ["\t".join(row) for row in cells]


def _divides(line: str, mark: str) -> bool:
    """Whether a mark divides a line into a source and a target; a table copied from elsewhere may have more columns."""
    cells = line.split(mark)
    return all(cell.strip() for cell in cells[:2]) and (len(cells) == 2 or (mark == "\t" and len(cells) > 2))
