"""Inside the model: the whole computation, from text to prediction, with every intermediate value."""

from __future__ import annotations

from explorer.screens.inside.computation import draw_computation_tab
from explorer.screens.inside.layer_by_layer import draw_layers_tab
from explorer.screens.inside.model_size import draw_size_tab
from explorer.screens.inside.prediction import draw_prediction_tab
from explorer.screens.inside.queries_and_keys import draw_similarity_tab
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import Translation
from explorer.web.page_parts import Tabs, draw_page


def draw() -> None:
    """Draw the question, then the tabs."""
    draw_page(
        "inside",
        "What happens between the text and the prediction?",
        "Every operation in the order in which the model computes it, with the numbers of this sentence.",
        _tabs,
        "step",
    )


def _tabs(shown: Translation, model: ModelDescription) -> Tabs:
    return {
        "The computation": lambda: draw_computation_tab(shown, model),
        "Queries and keys": lambda: draw_similarity_tab(shown, model),
        "Layer by layer": lambda: draw_layers_tab(shown, model),
        "The prediction": lambda: draw_prediction_tab(shown, model),
        "Sizes": lambda: draw_size_tab(model),
    }
