"""Choosing heads for surgery: on the grid of thumbnails, or by their names."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.browser.role_grid import role_grid_view
from explorer.decoding.head_change import Change, Kind
from explorer.decoding.names import index_name
from explorer.locale.text import plain
from explorer.probing.measurement import Probe
from explorer.probing.role_grid import Place, role_grids
from explorer.probing.sample import Measured
from explorer.web import changes_in_force
from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.points import Head

MARKS: dict[Kind, str] = {
    "zero": "off",
    "uniform": "even",
    "mean": "mean",
    "row": "row",
    "pattern": "pattern",
    "output": "output",
}
CHOSEN = "✓"


def chosen_heads() -> list[Head]:
    """The heads that are chosen now, counted from 0."""
    return [(kind, *place) for kind in ATTENTION_KINDS for place in st.session_state.get(_names_key(kind)) or ()]


def choose_none() -> None:
    """Take the choice back: the next operation must not hit heads that nobody chose for it."""
    for kind in ATTENTION_KINDS:
        if _names_key(kind) in st.session_state:
            st.session_state[_names_key(kind)] = []


def draw_choice_of_heads(config: ModelConfig, measured: Measured | None) -> None:
    """Draw the thumbnails of all heads, where they have been measured, and the names of all heads."""
    if measured is not None:
        _draw_grids(measured.probe)
        st.caption(
            plain(
                f"Click a thumbnail to choose the head ({CHOSEN}), and once more to leave it. Words on a thumbnail say "
                f"what is in force. Letters and frames are the roles of the tab 'All heads'."
            )
        )
    with st.expander("Choose heads by name", expanded=measured is None):
        for kind, column in zip(ATTENTION_KINDS, st.columns(len(ATTENTION_KINDS)), strict=True):
            column.pills(
                kind.capitalize(),
                list(np.ndindex(config.n_layers(kind), config.n_heads(kind))),
                selection_mode="multi",
                format_func=lambda place: index_name(*place),
                key=_names_key(kind),
            )


def marks_of(kind: AttentionKind, changes: tuple[Change, ...], chosen: list[Place]) -> dict[Place, str]:
    """The words on the thumbnails of one kind: what is in force, and which heads are chosen."""
    marks = {change.place[1:]: MARKS[change.op] for change in changes if change.kind == kind}
    return marks | {place: f"{CHOSEN} {marks.get(place, '')}".strip() for place in chosen}


def _draw_grids(probe: Probe) -> None:
    chosen = {kind: list(st.session_state.get(_names_key(kind)) or ()) for kind in ATTENTION_KINDS}
    changes = changes_in_force.changes()
    marks = {kind: marks_of(kind, changes, chosen[kind]) for kind in ATTENTION_KINDS}
    role_grid_view(role_grids(probe, marks, chosen), key="surgery_grid", on_click=_choose_or_leave, choosing=True)


def _choose_or_leave(clicked: Head) -> None:
    """Choose the head that was clicked, or leave it."""
    kind, *place = clicked
    chosen: list[Place] = list(st.session_state.get(_names_key(kind)) or ())
    head = (place[0], place[1])
    st.session_state[_names_key(kind)] = [p for p in chosen if p != head] if head in chosen else [*chosen, head]


def _names_key(kind: AttentionKind) -> str:
    return f"surgery_heads_{kind}"
