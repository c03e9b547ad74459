"""Draw figures and tables at low cost: live pages redraw them continually."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import streamlit as st

from explorer.charts.chart import Figure
from explorer.files.tables import Columns, Rows, table_csv
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.downloads import download_button


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


def draw_table(table: Columns | Rows, alt: str, *, file: str = "", **options: Any) -> Any:
    """Draw a table given by columns or rows, with a button for its CSV if `file` names one; returns its selection.

    `alt` describes its contents; `options` go to `st.dataframe`. Streamlit's own button is switched off
    (`client.disableDataExport`): what it writes may begin a formula.
    """
    shown = _arrow(dict(table)) if isinstance(table, Mapping) else list(table)
    selected = st.dataframe(shown, hide_index=True, alt=alt, **options)
    if file:
        make = partial(table_csv, table)
        download_button(
            "CSV", make, f"{file}.csv", "text/csv", key=f"csv_{file}", help=f"{alt}, as a file.", quiet=True
        )
    return selected


def _arrow(columns: dict[str, Any]) -> pa.Table:
    """The format that Streamlit sends to the browser anyway; passing it saves most of the time of a live update."""
    return pa.table(columns)
