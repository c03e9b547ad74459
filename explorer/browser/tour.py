"""A tour of the Translate page, and the line on top of the first page, whose button asks for it.

A card at each stop says what the element it points at shows just now. It runs in the browser, on the stepper that is on
the page. Its code is sent when the tour is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.browser.registration import component

_top_line = component("top_line", "top_line")
_tour = component("tour", "tour")


def top_line(*, key: str, on_tour: Callable[[], None]) -> None:
    """Draw what this is; `on_tour` is called, before the next run of the page, when the tour's button is pressed."""
    _top_line(key=key, on_tour_change=on_tour)


def tour(turn: int, *, key: str) -> None:
    """Mount the tour; it starts when `turn` is another number than at its last start in this browser tab."""
    _tour(key=key, data={"turn": turn})
