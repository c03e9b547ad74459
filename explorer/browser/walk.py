"""The computation as a table that is also a diagram: one row per operation, with lines from its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.browser.registration import component

COLUMNS = ("row", "operation", "shape", "parameters", "mean", "std. dev.", "reads")


@dataclass(frozen=True)
class WalkRow:
    """One operation on screen; `reads` are its inputs, rows of the same part counted from 0; `words` names them.

    A `learned` operation has parameters, a `sum` adds its inputs (a residual connection), and a `given` one was
    computed in another part.
    """

    name: str
    title: str
    shape: str
    parameters: str
    mean: str
    standard_deviation: str
    words: str
    reads: tuple[int, ...]
    learned: bool
    sum: bool
    given: bool = False


_component = component("walk", "walk")


def payload(part: str, rows: Sequence[WalkRow], chosen: str) -> dict[str, Any]:
    """The data for the browser: JSON values only, shown as text."""
    return {
        "part": part,
        "chosen": chosen,
        "columns": list(COLUMNS),
        "rows": [
            {
                "name": row.name,
                "title": row.title,
                "cells": [
                    row.shape,
                    row.parameters,
                    row.mean,
                    row.standard_deviation,
                    ", ".join(str(i + 1) for i in row.reads),
                ],
                "words": row.words,
                "reads": list(row.reads),
                "learned": row.learned,
                "sum": row.sum,
                "given": row.given,
            }
            for row in rows
        ],
    }


def walk_view(part: str, rows: Sequence[WalkRow], *, key: str, asked: str = "") -> str:
    """Draw the operations of one part and return the name of the open one: the chosen one, or the first.

    `asked` is opened until another one has been chosen in this part.
    """
    names = [row.name for row in rows]
    first = _asked(st.session_state.get(key), part, names) or (asked if asked in names else names[0])
    result = _component(key=key, data=payload(part, rows, first), on_chosen_change=lambda: None)
    return _asked({"chosen": result.chosen}, part, names) or first


def _asked(state: Any, part: str, names: Sequence[str]) -> str:
    """The operation that the browser reports as chosen; empty if it is in another part."""
    report = state.get("chosen") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("part") != part or report.get("name") not in names:
        return ""
    return str(report["name"])
