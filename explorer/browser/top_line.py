"""The line on top of the first page: what this is, and the button that asks for the tour."""

from __future__ import annotations

from collections.abc import Callable

from explorer.browser.registration import component

_component = component("top_line", "top_line")


def top_line(*, key: str, on_tour: Callable[[], None]) -> None:
    """Draw the line; `on_tour` is called, before the next run of the page, when its button is pressed."""
    _component(key=key, on_tour_change=on_tour, width="stretch", height="content")
