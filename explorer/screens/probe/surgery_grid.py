"""Choosing heads for surgery: on the grid of thumbnails, or by their names."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from explorer.attention.names import index_name
from explorer.figures.role_grid import role_grid
from explorer.probing.measurement import Probe
from explorer.probing.sample import Measured
from explorer.probing.tables import roles
from explorer.text import plain
from explorer.translation.head_change import Change, Kind
from explorer.web import changes_in_force
from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.points import Head

Place = tuple[int, int]

MARKS: dict[Kind, str] = {
    "zero": "off",
    "uniform": "even",
    "mean": "mean",
    "row": "row",
    "pattern": "pattern",
    "output": "output",
}
CHOSEN = "✓"
_CLICKS = "surgery_clicks"


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
    known = roles(probe)
    clicks = st.session_state.setdefault(_CLICKS, 0)
    for kind, column in zip(ATTENTION_KINDS, st.columns(len(ATTENTION_KINDS)), strict=True):
        item = probe.kinds[kind]
        places = {place: known[kind, *place] for place in np.ndindex(item.n_layers, item.n_heads)}
        marks = marks_of(kind, changes_in_force.changes(), list(st.session_state.get(_names_key(kind)) or ()))
        plot = role_grid(item.relative, places, kind, marks, small=True)
        words = "; ".join(f"{index_name(*place)} {mark}" for place, mark in sorted(marks.items()))
        with column:
            st.markdown(f"##### {plain(plot.title)}")
            key = f"surgery_grid_{kind}_{clicks}"
            st.plotly_chart(
                plot.figure,
                key=key,
                alt=f"{plot.caption} {words}",
                on_select=partial(_clicked, kind, key),
                selection_mode="points",
                config={"displayModeBar": False},
            )


def _clicked(kind: AttentionKind, key: str) -> None:
    """Choose the head that was clicked, or leave it.

    The next grid has another key: on this one Plotly holds the head selected, and a second click would say nothing.
    """
    points = st.session_state[key]["selection"]["points"]
    places = [tuple(point["customdata"]) for point in points if point.get("customdata") is not None]
    if not places:
        return
    st.session_state[_CLICKS] += 1
    chosen = list(st.session_state.get(_names_key(kind)) or ())
    place = (int(places[0][0]), int(places[0][1]))
    st.session_state[_names_key(kind)] = [p for p in chosen if p != place] if place in chosen else [*chosen, place]


def _names_key(kind: AttentionKind) -> str:
    return f"surgery_heads_{kind}"
