"""Masks: which cells of attention are closed, why, and what happens when they are open."""

from __future__ import annotations

import streamlit as st

from explorer.screens.masks.given_target import draw_target_tab
from explorer.screens.masks.mask_maps import draw_masks_tab
from explorer.screens.masks.open_padding import draw_padding_tab
from explorer.screens.masks.trained_without import draw_pair_tab
from explorer.screens.masks.while_decoding import draw_decoding_tab
from explorer.web import page_parts, runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import OpenTranslation, address_of


def draw() -> None:
    """The question, then the tabs."""
    page_parts.heading(
        "What may a token not look at, and what if it could?",
        "Padding fills up the short sentences of a batch, and the future is what the decoder has yet to say. A mask "
        "closes both: closed cells get the lowest possible score, so that softmax gives them nothing.",
    )
    current = page_parts.at_work()
    if current is None:
        return
    st.fragment(_draw_tabs)(current)
    freeze_after("masks")


def _draw_tabs(current: OpenTranslation) -> None:
    """The open tab; a switch reruns only this part."""
    shown = current.shown
    model = runtime.describe(shown.model)
    page_parts.write_address(address_of(current))
    page_parts.draw_tabs(
        "masks",
        {
            "The masks": lambda: draw_masks_tab(shown, model),
            "Given target": lambda: draw_target_tab(shown, model),
            "While decoding": lambda: draw_decoding_tab(shown, model),
            "Trained without it": draw_pair_tab,
            "Open padding": lambda: draw_padding_tab(shown, model),
        },
    )
