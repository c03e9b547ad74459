"""The computation as a table that is also a diagram: one row per operation, with lines from its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from explorer.browser.registration import component, nothing
from explorer.browser.structs import WalkData, WalkRow

COLUMNS = ["row", "operation", "shape", "parameters", "mean", "std. dev.", "reads"]


_component = component("walk", "walk")


def walk_view(part: str, rows: Sequence[WalkRow], *, key: str, asked: str = "") -> str:
    """Draw the operations of one part and return the name of the open one: the chosen one, or the first.

    `asked` is opened until another one has been chosen in this part.
    """
    names = [row.name for row in rows]
    first = _asked(st.session_state.get(key), part, names) or (asked if asked in names else names[0])
    result = _component(key=key, data=asdict(WalkData(part, first, COLUMNS, list(rows))), on_chosen_change=nothing)
    return _asked({"chosen": result.chosen}, part, names) or first


def _asked(state: Any, part: str, names: Sequence[str]) -> str:
    """The operation that the browser reports as chosen; empty if it is in another part."""
    report = state.get("chosen") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("part") != part or report.get("name") not in names:
        return ""
    return str(report["name"])
