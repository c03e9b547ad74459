"""Put a single map on the page: title, figure, caption, and the table behind it."""

from __future__ import annotations

import streamlit as st

from explorer.facts import plain
from explorer.figures.attention_map import map_figure
from explorer.single_map import SingleMap, map_table, map_words

CONFIG = {"displayModeBar": False, "scrollZoom": False}


def draw_map(shown: SingleMap, *, key: str, note: str = "", table: bool = True) -> None:
    """Draw the map under its title; `note` goes before the caption that is computed from the numbers."""
    st.markdown(f"##### {plain(shown.title)}")
    caption = f"{note} {map_words(shown)}".strip()
    st.plotly_chart(map_figure(shown), key=key, width="stretch", config=CONFIG)
    st.caption(plain(caption))
    if table:
        with st.expander("The numbers"):
            st.dataframe(map_table(shown), hide_index=True, alt=caption)
