"""Sentence pairs that a person types or pastes: a line each, in whatever way the two sides are told apart."""

from __future__ import annotations

from model.data.task import DataError

# Tried in this order: what hardly occurs inside a sentence comes first.
SEPARATORS = ("\t", "→", "=>", "->", "|||", "|", ";", "=", ",")
_NAMES = {"\t": "a tab", ",": "a comma", ";": "a semicolon"}


def pasted_table(text: str) -> tuple[str, str]:
    """The pasted pairs as the text of a TSV file, and the name of what separates source and target.

    A line without the separator stays a line of one cell, which reading the table reports with its number.

    Raises:
        DataError: no separator divides at least half of the lines in two.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [line for line in lines if line.strip()]
    divided = {mark: sum(_divides(line, mark) for line in filled) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: divided[mark])  # the first of equals
    if not filled or 2 * divided[best] < len(filled):
        raise DataError(
            "these lines are not pairs: write a pair on each line, first the source, then a tab, a comma or an arrow "
            "(->), then the target."
        )
    cells = ([cell.strip() for cell in line.split(best)] for line in lines)
    rows = ("\t".join(row) if best != "\t" else line for row, line in zip(cells, lines, strict=True))
    return "\n".join(rows).rstrip("\n") + "\n", _NAMES.get(best, f"“{best}”")


def _divides(line: str, mark: str) -> bool:
    """Whether a mark divides a line into a source and a target; a table copied from elsewhere may have more columns."""
    cells = line.split(mark)
    return all(cell.strip() for cell in cells[:2]) and (len(cells) == 2 or (mark == "\t" and len(cells) > 2))
