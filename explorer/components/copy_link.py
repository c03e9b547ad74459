"""A button that copies the link to what is on screen."""

from __future__ import annotations

import streamlit as st

from explorer.components import bundle

_component = st.components.v2.component(
    "headlight_copy_link",
    html='<button type="button">Copy link</button><output aria-live="polite"></output>',
    css=bundle.style("copy_link.css"),
    js=bundle.script("copy_link.js"),
)


def copy_link(*, key: str) -> None:
    """Draw the button. The address bar already holds the link, so no data is sent to the browser."""
    _component(key=key)
