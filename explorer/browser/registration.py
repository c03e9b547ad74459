"""Register a component with Streamlit: its messages carry data, and its code comes by a route (assets.py)."""

from __future__ import annotations

import functools
from dataclasses import asdict
from typing import Any, TypeVar

import msgspec
import streamlit as st

from explorer.browser import assets
from explorer.locale.language import ENGLISH, current

Struct = TypeVar("Struct")


def nothing() -> None:
    """Do nothing; as a callback, it makes Streamlit always include the value in a component's result."""


def component(name: str, entry: str) -> Any:
    """Register the component `headlight_<name>`, whose code is the pack of this entry.

    A component without styles is not isolated: the browser then mounts it in one pass instead of two. In each language
    it is another component, so that the browser draws it anew when the language changes.
    """
    _registered(name, entry, ENGLISH, assets.mount(entry))

    def draw(**options: Any) -> Any:
        code = current()
        return _registered(name, entry, code, assets.mount(entry, code))(**options)

    return draw


@functools.cache
def _registered(name: str, entry: str, code: str, script: str) -> Any:
    full_name = f"headlight_{name}" if code == ENGLISH else f"headlight_{name}_{code}"
    return st.components.v2.component(full_name, js=script, isolate_styles=bool(assets.PARTS[entry][0]))


def from_browser(kind: type[Struct], message: Any, seq: str = "") -> Struct | None:
    """A browser's message, which is not trusted, as a struct; None if it is none, or about another `seq`, if given."""
    try:
        struct = msgspec.convert(message, kind)
    except msgspec.ValidationError:
        return None
    return struct if seq in ("", getattr(struct, "seq", "")) else None


def as_data(mount: Any) -> list[dict[str, Any]]:
    """Convert what a view is mounted with (a dataclass of structs.py) to a component's data.

    It is a list, because for a value within a dictionary, Streamlit imports pandas to find out whether it is a table,
    which takes about a second of a cold start.
    """
    return [asdict(mount)]
