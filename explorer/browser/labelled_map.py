"""A single map, painted in the browser as the maps of the Attention page are: labels fit, and long maps scroll.

The message (wire.py) has the numbers as float32, and the mask. The weights of a large map have two bytes each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.map_structs import MapHeader
from explorer.browser.registration import component
from explorer.decoding.labelled_map import SCORE, LabelledMap
from explorer.locale.messages import translated
from model.trace import VISIBLE

_component = component("labelled_map", "labelled_map")
_DIGITS = 4  # of the weights of a map with more cells than this:
_LARGE = 40_000
_MANY = 3  # maps in a row, from which it has room for the names of rows only
_UPRIGHT = 12  # keys; the names of more stand upright


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
) -> bytes:
    """Encode a map as a message; masked cells have the number 0, whatever they hold.

    `caption` describes it in words, and `numbers` are written into cells that have room for them.
    `minus` is the difference of the two rows of the map, to be drawn as its third one. The map may stand in a row, the
    `grid`, whose cells have one size.

    Raises:
        ValueError: a visible cell is not a number.
    """
    maps = (map_, minus) if minus else (map_,)
    mask = np.concatenate([each.mask for each in maps])
    values = np.where(mask == VISIBLE, np.concatenate([each.values for each in maps]), 0).astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError(f"The map “{map_.title}” holds a value that is not a number.")
    rows, ends, columns = _labels(map_)
    header = MapHeader(
        rows=[*rows, *(minus.row_labels if minus else ())],
        ends=ends,
        columns=columns,
        grid=[in_row(each, len(grid)) for each in (map_, *grid)] if grid else [],
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
        caption=caption,
        places=map_.places,
    )
    is_large = values.size > _LARGE and values.min() >= 0 and values.max() <= 1
    arrays: dict[str, NDArray[Any]] = {"values": values, "mask": mask.astype(np.uint8)}
    if map_.closing is not None:
        arrays["closing"] = map_.closing.astype(np.uint8)
    return wire.write(vars(header), arrays, digits=_DIGITS if is_large else None)


def in_row(map_: LabelledMap, n_maps: int) -> tuple[list[str], list[str], list[str], float]:
    """The labels that a map has in a row of maps, and the width, roughly in pixels, at which it shows its numbers.

    The difference of two maps has positions, since the names stand beside it, except at the cell that differs most.
    There, what rows predict has no room.
    """
    rows, ends, columns = _labels(map_)
    if map_.signed:
        row, column = map_.marks.cells[0] if map_.marks.cells else (-1, -1)
        rows, columns = (
            [name if i == named else f"{i + 1}" for i, name in enumerate(names)]
            for names, named in ((rows, row), (columns, column))
        )
    ends = ends if n_maps < _MANY else []
    letters = sum(max(map(len, names), default=0) for names in (rows, ends))
    beside, cell = (15, 17) if len(columns) > _UPRIGHT else (30 if map_.signed else 44, 21)
    return rows, ends, columns, beside + 7 * letters + cell * len(columns)


def _labels(map_: LabelledMap) -> tuple[list[str], list[str], list[str]]:
    rows, columns = map_.marked_labels
    return list(rows), [f"→ {token}" if token else "" for token in map_.marked_ends], list(columns)
