"""Thumbnails of all heads, lettered and framed by their roles; a click opens a head or chooses it.

It is our own component, because with a Plotly figure the Probe page would wait for all of Plotly to load. The message
(wire.py) has one byte for each cell of each map, from 0 (as uniform attention, or less) to 255 (`TOP` times uniform
attention, or more). That is as fine as the colour scale, and the cells are not shown as numbers. The scale is the same
for all grids and models: a head that prefers nothing stays blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.registration import component, from_browser
from explorer.browser.structs import GridHead, GridRole, RoleGridHeader, RoleGridsHeader, RoleTile
from explorer.charts.palette import HEAD_COLOURS
from explorer.decoding.names import index_name
from explorer.locale.messages import translated
from explorer.probing.role_grid import TOP, RoleGrid
from explorer.probing.roles import LETTERS
from model.points import Head

_component = component("role_grid", "role_grid")


def role_grid_view(
    grids: Sequence[RoleGrid], *, key: str, on_click: Callable[[Head], None], choosing: bool = False
) -> None:
    """Draw the grids side by side; `on_click` is called with a head (layer and head from 0) before the next run.

    Raises:
        ValueError: a cell is not a number.
    """

    def clicked() -> None:
        head = head_from(st.session_state[key].get("clicked"), grids)
        if head is not None:
            grid, place = head
            on_click((grid.kind, *place))

    _component(
        key=key,
        data=encode(grids, choosing=choosing),
        on_clicked_change=clicked,
    )


def encode(grids: Sequence[RoleGrid], *, choosing: bool) -> bytes:
    """Encode all grids as a message. `choosing`: a click selects or deselects a head; otherwise it opens the head.

    Raises:
        ValueError: a cell is not a number.
    """
    for grid in grids:
        if not np.isfinite(grid.maps).all():
            raise ValueError(f"The mean maps of the {grid.kind} heads hold a value that is not a number.")
    parts = Counter(part for grid in grids for role in grid.roles.values() for part in role.parts)
    colours = _colours([name for name, _ in parts.most_common()])
    roles = [GridRole(translated(LETTERS[name]), translated(name), colours[name], n) for name, n in parts.most_common()]
    header = RoleGridsHeader(choosing, roles, [_header(grid, colours) for grid in grids])
    return wire.write(vars(header), {grid.kind: _bytes(grid) for grid in grids})


def head_from(message: Any, grids: Sequence[RoleGrid]) -> tuple[RoleGrid, tuple[int, int]] | None:
    """The grid and the head (layer and head from 0) named by a browser's message; None if they do not exist."""
    clicked = from_browser(GridHead, message)
    if clicked is None:
        return None
    grid = next((grid for grid in grids if grid.kind == clicked.kind), None)
    place = clicked.layer - 1, clicked.head - 1
    return None if grid is None or place not in grid.roles else (grid, place)


def _colours(names: Sequence[str]) -> dict[str, int]:
    """A colour for each role, its own unless a commoner role has it, and different ones as long as there are any."""
    colours: dict[str, int] = {}
    for name in names:
        own, n = list(LETTERS).index(name), len(HEAD_COLOURS)
        free = {*range(n)} - {*colours.values()} or {own % n}
        colours[name] = min(free, key=lambda colour: (colour - own) % n)
    return colours


def _header(grid: RoleGrid, colours: Mapping[str, int]) -> RoleGridHeader:
    layers, heads, bins, _ = grid.maps.shape
    return RoleGridHeader(
        kind=grid.kind,
        layers=layers,
        heads=heads,
        bins=bins,
        top=TOP,
        tiles=[
            RoleTile(
                name=index_name(*place),
                role=role.title,
                letters=role.letters,
                colour=colours[role.parts[-1]] if role.clear else -1,
                mark=grid.marks.get(place, ""),
                chosen=place in grid.chosen,
            )
            for place, role in sorted(grid.roles.items())
        ],
    )


def _bytes(grid: RoleGrid) -> NDArray[np.uint8]:
    # Logarithmic: the heads of a small preference differ, too.
    return np.rint(255 * np.log(np.clip(grid.times_uniform, 1, TOP)) / np.log(TOP)).astype(np.uint8)
