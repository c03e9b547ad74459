"""A button that copies the link to what is on screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "headlight_copy_link",
    html='<button type="button">Copy link</button><output aria-live="polite"></output>',
    css=(_HERE / "css" / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "js" / "copy_link.js").read_text(encoding="utf-8"),
)


def copy_link(*, key: str) -> None:
    """Draw the button; the address bar already says everything, so nothing is sent to the browser."""
    _component(key=key)
