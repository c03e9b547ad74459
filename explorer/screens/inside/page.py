"""Inside the model: the whole computation, from text to prediction, with every intermediate value."""

from __future__ import annotations

import streamlit as st

from explorer.screens.inside.computation import draw_computation_tab
from explorer.screens.inside.layer_by_layer import draw_layers_tab
from explorer.screens.inside.model_size import draw_size_tab
from explorer.screens.inside.prediction import draw_prediction_tab
from explorer.screens.inside.queries_and_keys import draw_similarity_tab
from explorer.web import page_parts, runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import OpenTranslation, address_of


def draw() -> None:
    """Draw the question, then the tabs."""
    page_parts.heading(
        "What happens between the text and the prediction?",
        "Every operation in the order in which the model computes it, with the numbers of this sentence.",
    )
    current = page_parts.at_work()
    if current is None:
        return
    st.fragment(_draw_tabs)(current)
    freeze_after("inside")


def _draw_tabs(current: OpenTranslation) -> None:
    """Draw the open tab; a choice in it reruns only this fragment."""
    shown = current.shown
    model = runtime.describe(shown.model)
    page_parts.write_address(address_of(current), "step")
    page_parts.draw_tabs(
        "inside",
        {
            "The computation": lambda: draw_computation_tab(shown, model),
            "Queries and keys": lambda: draw_similarity_tab(shown, model),
            "Layer by layer": lambda: draw_layers_tab(shown, model),
            "The prediction": lambda: draw_prediction_tab(shown, model),
            "Sizes": lambda: draw_size_tab(model),
        },
    )
