"""Positions: how a model that reads all words at once knows their order."""

from __future__ import annotations

import streamlit as st

from explorer.screens.positions.alternatives import draw_alternatives_tab
from explorer.screens.positions.longer_inputs import draw_longer_tab
from explorer.screens.positions.one_word import draw_word_tab
from explorer.screens.positions.rotation import draw_rotation_tab
from explorer.screens.positions.shuffled_words import draw_shuffle_tab
from explorer.screens.positions.sinusoidal import draw_table_tab
from explorer.web import page_parts, runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import OpenTranslation, address_of


def draw() -> None:
    """The question, then the tabs."""
    page_parts.heading(
        "How does the model know the order of the words?",
        "Attention reads all words at once and has no notion of order. So a vector that stands for a word's position "
        "(positional encoding) is added to the word's own. Positions count from 0 here, as in the formula.",
    )
    current = page_parts.at_work()
    if current is None:
        return
    st.fragment(_draw_tabs)(current)
    freeze_after("positions")


def _draw_tabs(current: OpenTranslation) -> None:
    """The open tab; a slider reruns only this part."""
    shown = current.shown
    model = runtime.describe(shown.model)
    page_parts.write_address(address_of(current))
    page_parts.draw_tabs(
        "positions",
        {
            "The table": lambda: draw_table_tab(model),
            "One word": lambda: draw_word_tab(shown, model),
            "The rotation": lambda: draw_rotation_tab(model),
            "Alternatives": lambda: draw_alternatives_tab(model),
            "Shuffle the words": lambda: draw_shuffle_tab(shown, model),
            "Longer than trained": lambda: draw_longer_tab(shown, model),
        },
    )
