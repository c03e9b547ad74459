"""Put a figure on the page: the chart, and under it the sentence that says what it shows."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import streamlit as st

from explorer.facts import plain
from explorer.figures.curves import Figure


def draw_figure(figure: Figure) -> None:
    """Draw a figure with its title and its caption, which is also its text for those who do not see it.

    An Arrow table is what Streamlit sends to the browser: giving it one saves most of the time of a live update.
    """
    if figure.title:
        st.markdown(f"##### {plain(figure.title)}")
    st.vega_lite_chart(pa.table(figure.data), figure.spec, width="stretch", alt=figure.caption)
    st.caption(plain(figure.caption))
