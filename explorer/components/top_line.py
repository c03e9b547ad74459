"""The line on top of the first page: what this is, and the button that asks for the tour."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.components import bundle

_component = st.components.v2.component(
    "headlight_top_line",
    html=bundle.markup("top_line.html"),
    css=bundle.style("top_line.css"),
    js=bundle.script("top_line.js"),
)


def top_line(*, key: str, on_tour: Callable[[], None]) -> None:
    """Draw the line; `on_tour` is called, before the next run of the page, when its button is pressed."""
    _component(key=key, on_tour_change=on_tour, width="stretch", height="content")
