"""Masks: which cells of attention are closed, why, and what happens when they are not."""

from __future__ import annotations

import streamlit as st

from explorer.screens.masks.lift import draw_decoding_tab, draw_pair_tab, draw_target_tab
from explorer.screens.masks.look import draw_masks_tab, draw_padding_tab
from explorer.web import page_parts as teach
from explorer.web import runtime
from explorer.web.figures import freeze_after
from explorer.web.open_translation import Opened


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "What may a token not look at, and what if it could?",
        "Padding fills up short sentences of a batch, and the future is what the decoder has yet to say. A mask closes "
        "both: closed cells get the lowest score there is, so that softmax gives them nothing.",
    )
    found = teach.at_work()
    if found is None:
        return
    st.fragment(_tabs)(found)
    freeze_after("masks")


def _tabs(found: Opened) -> None:
    """A switch runs only this part again."""
    shown = found.shown
    described = runtime.describe(shown.model)
    teach.write_address(found.address)
    teach.draw_tabs(
        "masks",
        {
            "The masks": lambda: draw_masks_tab(described, shown),
            "Given target": lambda: draw_target_tab(described, shown),
            "While decoding": lambda: draw_decoding_tab(described, shown),
            "Trained without it": draw_pair_tab,
            "Open padding": lambda: draw_padding_tab(described, shown),
        },
    )
