"""Draw figures and tables at low cost: live pages redraw them continually."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import streamlit as st

from explorer.figures.chart import Figure, Table
from explorer.text import plain
from explorer.web import runtime


@st.cache_resource(show_spinner=False)
def freeze_after(view: str) -> None:
    """At the end of a view that is drawn alone, once per process: exclude what it imported from garbage collection.

    A page that polls for changes would have all of it scanned again and again. For what a whole page imports, see
    :func:`explorer.web.runtime.page_run`.
    """
    del view  # only the cache key: another view may have imported more
    runtime.freeze()


def draw_figure(figure: Figure) -> None:
    """Draw a figure with its title and its caption; the caption is also its alternative text."""
    if figure.title:
        st.markdown(f"##### {plain(figure.title)}")
    st.vega_lite_chart(_arrow(figure.data), figure.spec, width="stretch", alt=figure.caption)
    st.caption(plain(figure.caption))


def draw_table(columns: Table, alt: str) -> None:
    """Draw a table given by its columns; `alt` describes its contents."""
    st.dataframe(_arrow(columns), hide_index=True, alt=alt)


def _arrow(columns: Table) -> pa.Table:
    """The format that Streamlit sends to the browser anyway; passing it saves most of the time of a live update."""
    return pa.table(columns)
