"""The Masks page: which cells of attention are closed, why, and what happens if they are open."""

from __future__ import annotations

from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import message, t
from explorer.screens.masks.given_target import draw_pair_tab, draw_target_tab
from explorer.screens.masks.mask_maps import draw_masks_tab
from explorer.web.page_parts import Tabs, draw_page


def draw() -> None:
    """Draw the question, then the tabs."""
    draw_page(
        "masks",
        t("What may a token not look at, and what if it could?"),
        "",
        tabs_of,
    )


def tabs_of(translation: Translation, model: ModelDescription) -> Tabs:
    """The tabs of the page, by title; a lesson draws one of them beside its text."""
    return {
        message("The masks"): lambda: draw_masks_tab(translation, model),
        message("Given target"): (lambda: draw_target_tab(translation, model))
        if model.model_config.has_encoder
        else None,
        message("Trained without it"): draw_pair_tab,
    }
