"""A single map, painted in the browser as the maps of the Attention page are: labels fit, and long maps scroll.

The message (wire.py) has the numbers as float32, and the mask. The weights of a large map have two bytes each.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
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
_MANY = 3  # maps in a row, which have no room for all names
_LETTER, _CELL = 6.1, 19  # width of a letter and of a cell in a row of maps, roughly in pixels


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

    Only A and B and their difference are three. Then, B and the difference name what differs, or what rows predict, and
    have positions for the names beside them.
    """
    found = []
    for nth, map_ in enumerate(maps):
        rows, ends, columns = _labels(map_)
        row, column = map_.marks.cells[0] if map_.marks.cells else (-1, -1)
        if nth and len(maps) == _MANY:
            named = frozenset() if any(ends) else map_.marks.rows | {row}
            rows = _some(rows, map_.marks.rows, named)
        if map_.signed:
            columns = _some(columns, map_.marks.columns, map_.marks.columns | {column})
        letters = sum(max(map(_letters, names), default=0) for names in (rows, ends))
        beside = 24 if any(ends) else 60
        found.append((rows, ends, columns, beside + _LETTER * letters + _CELL * len(columns)))
    return found


def _letters(name: str) -> float:
    """The width of a name, roughly in letters of usual width."""
    return len(name) - name.count(" ") / 2 + sum(letter in "MWmw" for letter in name) / 2


def _some(names: Sequence[str], differ: Set[int], named: Set[int]) -> list[str]:
    """The names that are to be `named`, and positions for the others, with a sign if they differ."""
    positions = (f"{SIGN} {i + 1}" if i in differ else f"{i + 1}" for i in range(len(names)))
    return [name if i in named else at for i, (name, at) in enumerate(zip(names, positions, strict=True))]


def _labels(map_: LabelledMap) -> tuple[list[str], list[str], list[str]]:
    rows, columns = map_.marked_labels
    return list(rows), [f"→ {token}" if token else "" for token in map_.marked_ends], list(columns)
