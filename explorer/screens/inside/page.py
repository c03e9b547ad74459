"""Inside the model: the whole computation, from text to prediction, with every number on the way."""

from __future__ import annotations

import streamlit as st

from explorer.screens.inside.computation import draw_walk_tab
from explorer.screens.inside.more import (
    draw_budget_tab,
    draw_lens_tab,
    draw_prediction_tab,
    draw_similarity_tab,
)
from explorer.web import page_parts as teach
from explorer.web import runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import Opened


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "What happens between the text and the prediction?",
        "Every operation in the order in which the model computes it, with the numbers of this sentence.",
    )
    found = teach.at_work()
    if found is None:
        return
    st.fragment(_tabs)(found)
    freeze_after("inside")


def _tabs(found: Opened) -> None:
    """A choice runs only this part again."""
    shown = found.shown
    described = runtime.describe(shown.model)
    teach.write_address(found.address, "step")
    teach.draw_tabs(
        "inside",
        {
            "The computation": lambda: draw_walk_tab(described, shown),
            "Queries and keys": lambda: draw_similarity_tab(described, shown),
            "Layer by layer": lambda: draw_lens_tab(described, shown),
            "The prediction": lambda: draw_prediction_tab(described, shown),
            "Sizes": lambda: draw_budget_tab(described),
        },
    )
