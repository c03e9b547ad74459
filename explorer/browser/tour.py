"""A tour of the Translate page: a card at each stop says what the element it points at shows just now.

It runs in the browser, on the stepper that is on the page. Its code is sent when the tour is first asked for.
"""

from __future__ import annotations

from explorer.browser.registration import component

_component = component("tour", "tour")


def tour(turn: int, *, key: str) -> None:
    """Mount the tour; it starts when `turn` is another number than at its last start in this browser tab."""
    _component(key=key, data={"turn": turn}, width="stretch", height="content")
