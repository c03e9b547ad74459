"""Inside the model: the whole computation, from text to prediction, with every number on the way."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

import streamlit as st  # noqa: E402 - nothing runs before the shell has had its say

from explorer import runtime, teach  # noqa: E402
from explorer.figures.draw import freeze_after  # noqa: E402
from explorer.inside_more import (  # noqa: E402
    draw_budget_tab,
    draw_lens_tab,
    draw_prediction_tab,
    draw_similarity_tab,
)
from explorer.inside_walk import draw_walk_tab  # noqa: E402
from explorer.translator import Translation, Translator  # noqa: E402

TABS = ("The computation", "Queries and keys", "Layer by layer", "The prediction", "Sizes")


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "What happens between the text and the prediction?",
        "Every operation in the order in which the model computes it, with the numbers of this sentence.",
    )
    working = teach.at_work()
    if working is None:
        return
    _, shown = working
    st.fragment(_tabs)(runtime.translator(shown.model), shown)
    freeze_after("inside")


def _tabs(translator: Translator, shown: Translation) -> None:
    """A choice runs only this part again, and only the open tab is drawn."""
    tabs = dict(zip(TABS, st.tabs(TABS, on_change="rerun", key="inside_tab"), strict=True))
    chosen = next((name for name, tab in tabs.items() if tab.open), TABS[0])
    with tabs[chosen]:
        if chosen == "The computation":
            draw_walk_tab(translator, shown)
        elif chosen == "Queries and keys":
            draw_similarity_tab(translator, shown)
        elif chosen == "Layer by layer":
            draw_lens_tab(translator, shown)
        elif chosen == "The prediction":
            draw_prediction_tab(translator, shown)
        else:
            draw_budget_tab(translator)


draw()
