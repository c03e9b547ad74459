"""The Inside page: the whole model in one diagram, and what its vectors and predictions say."""

from __future__ import annotations

from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import message, t
from explorer.screens.inside.layers import draw_layers_tab
from explorer.screens.inside.machine import draw_machine_tab
from explorer.screens.inside.model_size import draw_size_tab
from explorer.screens.inside.training_steps import after_training
from explorer.web.page_parts import Tabs, draw_page


def draw() -> None:
    """Draw the question, then the tabs."""
    draw_page(
        "inside",
        t("What happens between the text and the prediction?"),
        "",
        tabs_of,
        lstm_tabs=_machine_tab,
    )


def _machine_tab(translation: Translation, model: ModelDescription) -> Tabs:
    return {message("The machine"): lambda: draw_machine_tab(after_training(translation), model)}


def tabs_of(translation: Translation, model: ModelDescription) -> Tabs:
    """The tabs of the page, by title; a lesson draws one of them beside its text."""
    return {
        **_machine_tab(translation, model),
        message("Layer by layer"): lambda: draw_layers_tab(translation, model),
        message("Sizes"): lambda: draw_size_tab(model),
    }
