"""Positional encoding: how a model that sees all words at once knows their order."""

from __future__ import annotations

import streamlit as st

from explorer.screens.positions.order import draw_length_tab, draw_shuffle_tab
from explorer.screens.positions.table import (
    draw_alternatives_tab,
    draw_rotation_tab,
    draw_table_tab,
    draw_word_tab,
)
from explorer.web import page_parts as teach
from explorer.web import runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import Opened


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "How does the model know the order of the words?",
        "Attention sees all words at once and in no order. So a row of numbers that says where a word stands "
        "(positional encoding) is added to it. Positions count from 0 here, as in the formula.",
    )
    found = teach.at_work()
    if found is None:
        return
    st.fragment(_tabs)(found)
    freeze_after("positions")


def _tabs(found: Opened) -> None:
    """Moving a slider runs only this part again."""
    shown = found.shown
    described = runtime.describe(shown.model)
    teach.write_address(found.address)
    teach.draw_tabs(
        "positions",
        {
            "The table": lambda: draw_table_tab(described),
            "One word": lambda: draw_word_tab(described, shown),
            "The rotation": lambda: draw_rotation_tab(described),
            "Alternatives": lambda: draw_alternatives_tab(described),
            "Shuffle the words": lambda: draw_shuffle_tab(described, shown),
            "Longer than trained": lambda: draw_length_tab(described, shown),
        },
    )
