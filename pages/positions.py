"""Positional encoding: how a model that sees all words at once knows their order."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

import streamlit as st  # noqa: E402 - nothing runs before the shell has had its say

from explorer import runtime, teach  # noqa: E402
from explorer.figures.draw import freeze_after  # noqa: E402
from explorer.positions_order import draw_length_tab, draw_shuffle_tab  # noqa: E402
from explorer.positions_table import (  # noqa: E402
    choose_sizes,
    draw_alternatives_tab,
    draw_rotation_tab,
    draw_table_tab,
    draw_word_tab,
)
from explorer.translator import Translation, Translator  # noqa: E402

TABS = ("The table", "One word", "The rotation", "Alternatives", "Shuffle the words", "Longer than trained")


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "How does the model know the order of the words?",
        "Attention sees all words at once and in no order. So a row of numbers that says where a word stands "
        "(positional encoding) is added to it. Positions count from 0 here, as in the formula.",
    )
    working = teach.at_work()
    if working is None:
        return
    _, shown = working
    st.fragment(_tabs)(runtime.translator(shown.model), shown)
    freeze_after("positions")


def _tabs(translator: Translator, shown: Translation) -> None:
    """Moving a slider runs only this part again, and only the open tab is drawn."""
    model = teach.transformer(shown.model)
    tabs = dict(zip(TABS, st.tabs(TABS, on_change="rerun", key="positions_tab"), strict=True))
    chosen = next((name for name, tab in tabs.items() if tab.open), TABS[0])
    with tabs[chosen]:
        if chosen in ("The table", "The rotation", "Alternatives"):
            sizes = choose_sizes(model)
            if chosen == "The table":
                draw_table_tab(sizes, model)
            elif chosen == "The rotation":
                draw_rotation_tab(sizes)
            else:
                draw_alternatives_tab(sizes, model)
        elif chosen == "One word":
            draw_word_tab(shown, model)
        elif chosen == "Shuffle the words":
            draw_shuffle_tab(translator, shown)
        else:
            draw_length_tab(translator, shown)


draw()
