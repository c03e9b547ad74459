"""Buttons that copy the link to what is on screen, and the markup that embeds it in another page."""

from __future__ import annotations

from explorer.browser.registration import component

_component = component("copy_link", "copy_link")


def copy_link(*, key: str, embeds: bool = False) -> None:
    """Draw the buttons, the second if `embeds`: not every page can be embedded. The address bar holds the link."""
    _component(key=key, data={"embeds": embeds})
