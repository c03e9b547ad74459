"""Masks: which cells of attention are closed, why, and what happens when they are not."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

import streamlit as st  # noqa: E402 - nothing runs before the shell has had its say

from explorer import runtime, teach  # noqa: E402
from explorer.figures.draw import freeze_after  # noqa: E402
from explorer.masks_lift import draw_decoding_tab, draw_pair_tab, draw_target_tab  # noqa: E402
from explorer.masks_look import draw_masks_tab, draw_padding_tab  # noqa: E402
from explorer.translator import Translation, Translator  # noqa: E402

TABS = ("The masks", "Given target", "While decoding", "Trained without it", "Open padding")


def draw() -> None:
    """The question, then the tabs."""
    teach.heading(
        "What may a token not look at, and what if it could?",
        "Padding fills up short sentences of a batch, and the future is what the decoder has yet to say. A mask closes "
        "both: closed cells get the lowest score there is, so that softmax gives them nothing.",
    )
    working = teach.at_work()
    if working is None:
        return
    _, shown = working
    st.fragment(_tabs)(runtime.translator(shown.model), shown)
    freeze_after("masks")


def _tabs(translator: Translator, shown: Translation) -> None:
    """A switch runs only this part again, and only the open tab is drawn."""
    tabs = dict(zip(TABS, st.tabs(TABS, on_change="rerun", key="masks_tab"), strict=True))
    chosen = next((name for name, tab in tabs.items() if tab.open), TABS[0])
    with tabs[chosen]:
        if chosen == "The masks":
            draw_masks_tab(translator, shown)
        elif chosen == "Given target":
            draw_target_tab(translator, shown)
        elif chosen == "While decoding":
            draw_decoding_tab(translator, shown)
        elif chosen == "Trained without it":
            draw_pair_tab()
        else:
            draw_padding_tab(translator, shown)


draw()
