"""A single map, painted in the browser as the maps of the Attention page are: labels fit, and long maps scroll.

The message (wire.py) has the numbers as float32, and the mask. The weights of a large map have two bytes each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.map_structs import MapHeader
from explorer.browser.registration import component
from explorer.decoding.labelled_map import SCORE, SIGN, LabelledMap
from explorer.locale.messages import translated
from model.trace import VISIBLE

_component = component("labelled_map", "labelled_map")
_DIGITS = 4  # of the weights of a map with more cells than this:
_LARGE = 40_000
_MANY = 3  # maps in a row, A and B and their difference, which have no room for all names
_WIDER = 1.15  # width of the cells of the difference, whose numbers have a sign, by that of the others
_BOLD, _LETTER, _SLANTED = 6.9, 6.5, 4.0  # width of a letter of rows, of what they predict, and of columns, in pixels
_WIDTHS = dict.fromkeys("MWmw", 1.5) | dict.fromkeys("Ifijlrt.,:", 0.66) | {" ": 0.5}  # as a share of other letters
_FEW = 12  # columns at most whose names may have two lines, if a number stands before
_TITLED = 48  # room beside the rows for their title, in pixels
_ROOM, _LEAST, _CELLS = 980, 220, (12, 54)  # widths of such a row in a small window, of a map at least, and of cells


def labelled_map_view(message: bytes, *, key: str) -> None:
    """Draw a map from its message; see :func:`encode`."""
    _component(key=key, data=message)


def encode(
    map_: LabelledMap,
    caption: str,
    *,
    numbers: bool = True,
    minus: LabelledMap | None = None,
    grid: Sequence[LabelledMap] = (),
    group: str = "",
    name: str = "",
) -> bytes:
    """Encode a map as a message; masked cells have the number 0, whatever they hold.

    `caption` describes it in words, and `numbers` are written into cells that have room for them.
    `minus` is the difference of the two rows of the map, to be drawn as its third one. The map may stand in a row, the
    `grid`, whose cells have one size; it is among them. A cell chosen in one map of a `group` is chosen in all; there,
    the map has a `name`.

    Raises:
        ValueError: a visible cell is not a number.
    """
    maps = (map_, minus) if minus else (map_,)
    mask = np.concatenate([each.mask for each in maps])
    values = np.where(mask == VISIBLE, np.concatenate([each.values for each in maps]), 0).astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError(f"The map “{map_.title}” holds a value that is not a number.")
    rows, ends, columns = _labels(map_)
    labels = in_row(grid)
    header = MapHeader(
        rows=[*rows, *(minus.row_labels if minus else ())],
        ends=ends,
        columns=columns,
        grid=[labels[grid.index(map_)], *labels] if labels else [],
        row_title=translated(map_.row_title),
        column_title=translated(map_.column_title),
        unit=map_.quantity,
        top=map_.scale,
        signed=map_.signed,
        least=map_.least,
        minus=minus.scale if minus else 0,
        numbers=numbers,
        zeros=map_.unit == SCORE,
        frames=list(map_.marks.cells),
        group=group,
        name=name or map_.quantity,
        twin_rows=map_.marks.twins[0],
        twin_columns=map_.marks.twins[1],
        caption=caption,
        places=map_.places,
        padding=map_.padding,
    )
    is_large = values.size > _LARGE and values.min() >= 0 and values.max() <= 1
    arrays: dict[str, NDArray[Any]] = {"values": values, "mask": mask.astype(np.uint8)}
    if map_.closing is not None:
        arrays["closing"] = map_.closing.astype(np.uint8)
    return wire.write(vars(header), arrays, digits=_DIGITS if is_large else None)


def in_row(maps: Sequence[LabelledMap]) -> list[tuple[list[str], list[str], list[str], float]]:
    """The labels of the maps in a row, and the width, roughly in pixels, at which each shows its numbers.

    If the rows of three maps are in line, B names the rows that differ, and says what rows write where that differs.
    In many columns it names them only if it does not say what they write. The difference names the rows that differ,
    of few columns, and rows and columns with numbers in cells; if rows are not in line, it says what they write.
    """
    found = []
    in_line = len(maps) == _MANY and maps[1].marks.twins[0] == list(range(len(maps[0].rows)))
    for nth, map_ in enumerate(maps):
        rows, ends, columns = _labels(map_)
        differing = map_.marks.rows if len(columns) <= _FEW else frozenset()
        if nth == 1 and in_line:
            rows = _some(rows, map_.marks.rows) if differing or not any(ends) else _numbers(rows)
            ends = [end if SIGN in end else "" for end in ends]
        if map_.signed:
            named = [*np.argwhere(np.abs(map_.seen()) >= map_.least).tolist(), *map_.marks.cells]
            ends = [] if in_line else ends
            if in_line or any(ends):
                rows = _numbers(rows) if any(ends) else _some(rows, {row for row, _ in named} | differing)
            columns = _some(columns, {column for _, column in named})
            rows, ends = ([name.replace(" / ", " /\n") for name in names] for names in (rows, ends))
            columns = [
                name.replace(" / ", " /\n") if before[-1].isdigit() and len(columns) <= _FEW else name
                for before, name in zip(["0", *columns], columns, strict=False)
            ]
        over = 24 if any(ends) else 12 + max(0, _SLANTED * _letters(columns[-1:]) - 6)
        least = _TITLED if (ends and all(ends)) or any(" " in row for row in rows) else 0
        beside = over + max(_BOLD * _letters(rows), least) + _LETTER * _letters(ends)
        found.append((rows, ends, columns, beside))
    wide = [len(columns) * (_WIDER if maps[nth].signed else 1) for nth, (_, _, columns, _) in enumerate(found)]
    cell = float(np.clip((_ROOM - sum(beside for *_, beside in found)) / max(sum(wide), 1), *_CELLS))
    return [
        (rows, ends, columns, max(_LEAST, beside + cell * cells))
        for (rows, ends, columns, beside), cells in zip(found, wide, strict=True)
    ]


def _letters(names: Sequence[str]) -> float:
    """The width of the longest line, roughly in letters of usual width."""
    lines = [line for name in names for line in name.split("\n")]
    return max((sum(_WIDTHS.get(letter, 1) for letter in line) for line in lines), default=0)


def _some(names: Sequence[str], named: Collection[int]) -> list[str]:
    """The names at `named`, and of what has other positions in A than in B; of the others, the positions alone."""
    return [
        name if i in named or "/" in number else f"{SIGN} {number}" if name.startswith(SIGN) else number
        for i, (name, number) in enumerate(zip(names, _numbers(names), strict=True))
    ]


def _numbers(names: Sequence[str]) -> list[str]:
    """The positions: "2" of "≠ 2 dog", "6/10" of "6/10 den"."""
    return [name.removeprefix(SIGN).split()[0] for name in names]


def _labels(map_: LabelledMap) -> tuple[list[str], list[str], list[str]]:
    rows, columns = map_.marked_labels
    return list(rows), [f"→ {token}" if token else "" for token in map_.marked_ends], list(columns)
