"""The Positions page: how a model that reads all words at once knows their order."""

from __future__ import annotations

from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import message, t
from explorer.screens.positions.one_word import draw_word_tab
from explorer.screens.positions.scores import draw_scores_tab
from explorer.screens.positions.sinusoidal import draw_rotation_tab, draw_table_tab
from explorer.screens.positions.word_order import draw_longer_tab, draw_shuffle_tab
from explorer.web.page_parts import Tabs, draw_page


def draw() -> None:
    """Draw the question, then the tabs."""
    draw_page(
        "positions",
        t("How does the model know the order of the words?"),
        t(
            "Without a mask, attention has no notion of order. So a vector that stands for a word's "
            "position (positional encoding) is added to the word's own, or the scores are told how far apart two words "
            "are. Positions count from 0 here, as in the formula."
        ),
        tabs_of,
    )


def tabs_of(translation: Translation, model: ModelDescription) -> Tabs:
    """The tabs of the page, by title; a lesson draws one of them beside its text."""
    has_encoder = model.model_config.has_encoder  # the causal mask alone tells a decoder something about the order
    return {
        message("The table"): lambda: draw_table_tab(model),
        message("One word"): lambda: draw_word_tab(translation, model),
        message("The rotation"): lambda: draw_rotation_tab(model),
        message("In the scores"): lambda: draw_scores_tab(model),
        message("Shuffle the words"): (lambda: draw_shuffle_tab(translation, model)) if has_encoder else None,
        message("Longer than trained"): lambda: draw_longer_tab(translation, model),
    }
