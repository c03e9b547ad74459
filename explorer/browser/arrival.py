"""A mark above what a click has opened: the browser scrolls to it, so that a click answers in view."""

from __future__ import annotations

from explorer.browser.registration import component

_component = component("arrival", "arrival")


def arrival(label: str, turn: int, *, focus: bool, key: str) -> None:
    """Draw the mark. With each new `turn` the browser scrolls to it; 0 never scrolls.

    `focus` also gives it the keyboard's focus, and screen readers say its `label`.
    """
    _component(key=key, data={"turn": turn, "label": label, "focus": focus}, height="content")
