"""Types of single maps in the browser, as :mod:`explorer.browser.structs`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MapHeader:
    """One map with its labels, complete as they are written; `ends` says what rows predict (may be empty).

    Colours go from 0 to `top`, or from -top to top if the numbers are `signed`. `caption` describes the map in words.
    `numbers` are written into the cells where they fit, with `zeros` also those that round to 0; those closer to 0 than
    `least` have neither number nor colour. If `minus` is not 0, the last row is the second one minus the first one,
    with colours from -minus to minus. Cells (row, column, from 0) in `frames` have a frame. `places` are those of the
    columns from the left; empty if they are in order. The cells of maps in a row have one size: `grid` has, of each
    map, its own first, the labels that are drawn (rows, ends, columns) and its share of the width. A cell that is
    chosen in one map of a `group` is chosen in all of them: that whose row and column have the same numbers among the
    `twin_rows` and `twin_columns` (-1 has none), or the same places if these are empty. There, the map has a `name`.
    The last rows are `padding`, and pale: numbers beyond the scale are among them.
    """

    rows: list[str]
    ends: list[str]
    columns: list[str]
    grid: list[tuple[list[str], list[str], list[str], float]]
    row_title: str
    column_title: str
    unit: str
    top: float
    signed: bool
    least: float
    minus: float
    numbers: bool
    zeros: bool
    frames: list[tuple[int, int]]
    group: str
    name: str
    twin_rows: list[int]
    twin_columns: list[int]
    caption: str
    places: list[int]
    padding: int
