"""Put a figure or a table on the page, at little cost: live pages draw them again and again."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import streamlit as st

from explorer.figures.vega_chart import Figure, Table
from explorer.text import plain
from explorer.web import runtime


@st.cache_resource(max_entries=16, show_spinner=False)
def freeze_after(view: str) -> None:
    """At the end of a view, once per process: what drawing it imported leaves the garbage collector's walks.

    Streamlit collects garbage after every run, so a page that looks for news would pay for all of it each second.
    """
    del view  # the key: another view may have imported more
    runtime.freeze()


def draw_figure(figure: Figure) -> None:
    """Draw a figure with its title and its caption, which is also its text for those who do not see it."""
    if figure.title:
        st.markdown(f"##### {plain(figure.title)}")
    st.vega_lite_chart(_arrow(figure.data), figure.spec, width="stretch", alt=figure.caption)
    st.caption(plain(figure.caption))


def draw_table(columns: Table, alt: str) -> None:
    """Draw a table given by its columns; `alt` says what it holds."""
    st.dataframe(_arrow(columns), hide_index=True, alt=alt)


def _arrow(columns: Table) -> pa.Table:
    """What Streamlit sends to the browser anyway: giving it this saves most of the time of a live update."""
    return pa.table(columns)
