"""The data of the grids of thumbnails: a message (wire.py) with one byte for each cell of each map.

A byte is the share of the grid's largest cell, 255 for all of it: as many steps as the colour scale has, and no number
is read from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.charts.palette import HEAD_COLOURS
from explorer.decoding.names import index_name
from explorer.probing.role_grid import RoleGrid
from explorer.probing.roles import LETTERS, Role


def encode(grids: Sequence[RoleGrid], *, choosing: bool) -> bytes:
    """All grids. `choosing`: a click chooses a head or leaves it; otherwise it opens the head.

    Raises:
        ValueError: a cell is not a number.
    """
    for grid in grids:
        if not np.isfinite(grid.maps).all():
            raise ValueError(f"The mean maps of the {grid.kind} heads hold a value that is not a number.")
    header = {"choosing": choosing, "grids": [_header(grid) for grid in grids]}
    return wire.write(header, {grid.kind: _bytes(grid) for grid in grids})


def head_from(message: Any, grids: Sequence[RoleGrid]) -> tuple[RoleGrid, tuple[int, int]] | None:
    """The grid and the head (layer and head from 0) of a browser's message, unchecked; None if there is none such."""
    if not isinstance(message, dict):
        return None
    grid = next((grid for grid in grids if grid.kind == message.get("kind")), None)
    layer, head = message.get("layer"), message.get("head")
    if grid is None or type(layer) is not int or type(head) is not int or (layer - 1, head - 1) not in grid.roles:
        return None
    return grid, (layer - 1, head - 1)


def colour_of(role: Role) -> int:
    """The colour of a role's frame, the same in all kinds; -1 without a clear role. The letters tell roles apart."""
    return list(LETTERS).index(role.name.split(" + ")[-1]) % len(HEAD_COLOURS) if role.clear else -1


def _header(grid: RoleGrid) -> dict[str, Any]:
    layers, heads, bins, _ = grid.maps.shape
    return {
        "kind": grid.kind,
        "layers": layers,
        "heads": heads,
        "bins": bins,
        "largest": grid.largest,
        "caption": grid.caption(),
        "tiles": [
            {
                "name": index_name(*place),
                "role": role.name,
                "letters": role.letters,
                "colour": colour_of(role),
                "mark": grid.marks.get(place, ""),
                "chosen": place in grid.chosen,
            }
            for place, role in sorted(grid.roles.items())
        ],
    }


def _bytes(grid: RoleGrid) -> NDArray[np.uint8]:
    return np.rint(255 * np.clip(grid.maps / grid.largest, 0, 1)).astype(np.uint8)
