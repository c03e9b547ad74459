"""Buttons that copy the link to what is on screen, and the markup that embeds it in another page."""

from __future__ import annotations

import streamlit as st

from explorer.components import bundle

_component = st.components.v2.component(
    "headlight_copy_link",
    html=bundle.markup("copy_link.html"),
    css=bundle.style("copy_link.css"),
    js=bundle.script("copy_link.js"),
)


def copy_link(*, key: str, embeds: bool = False) -> None:
    """Draw the buttons, the second if `embeds`: not every page can be embedded. The address bar holds the link."""
    _component(key=key, data={"embeds": embeds})
