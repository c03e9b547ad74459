"""Thumbnails of all heads, lettered and framed by their roles; a click opens a head or chooses it.

Drawn by our own code: a Plotly figure would keep the Probe page waiting until the browser has read all of Plotly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from explorer.browser.registration import component
from explorer.browser.role_grid_payload import encode, head_from
from explorer.probing.role_grid import RoleGrid
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
        found = head_from(st.session_state[key].get("clicked"), grids)
        if found is not None:
            grid, place = found
            on_click((grid.kind, *place))

    _component(
        key=key,
        data=encode(grids, choosing=choosing),
        on_clicked_change=clicked,
        width="stretch",
        height="content",
    )
