"""Register a component with Streamlit: its messages carry data, and its code comes by a route (assets.py)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from explorer.browser import assets


def nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""


def component(name: str, entry: str) -> Any:
    """Register the component `headlight_<name>`, whose code is the pack of this entry.

    One that shows nothing is not isolated: the browser then mounts it in one go instead of two.
    """
    return st.components.v2.component(
        f"headlight_{name}", js=assets.mount(entry), isolate_styles=assets.has_styles(entry)
    )


def as_data(mount: Any) -> list[dict[str, Any]]:
    """What a view is mounted with (a dataclass of structs.py) as a component's data.

    In a list: to find out whether a value within a dictionary is a table, Streamlit imports pandas, which takes about
    a second of a cold start.
    """
    return [asdict(mount)]
