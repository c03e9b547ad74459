"""A mark above what a click has opened: the browser scrolls to it, so that a click answers in view."""

from __future__ import annotations

import streamlit as st

from explorer.components import bundle

_component = st.components.v2.component(
    "headlight_arrival",
    html='<div class="arrival" tabindex="-1" role="group"></div>',
    css=bundle.style("arrival.css"),
    js=bundle.script("arrival.js"),
)


def arrival(label: str, turn: int, *, focus: bool, key: str) -> None:
    """Draw the mark. With each new `turn` the browser scrolls to it; 0 never scrolls.

    `focus` also gives it the keyboard's focus, and screen readers say its `label`.
    """
    _component(key=key, data={"turn": turn, "label": label, "focus": focus}, height="content")
