"""The list on the Runs page: every run and model with its state, scores, size and date."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.locale.text import plain
from explorer.runs.lifecycle import Entry
from explorer.runs.listing import rows, summary
from explorer.web import figures

_ROWS_SHOWN = 5  # further rows are scrolled to, so that the view of one run stays on the first screen
_ROW_PIXELS = 35


def draw_table(entries: Sequence[Entry]) -> None:
    """The list, with a sentence that sums it up and one for each folder that cannot be opened."""
    height = _ROW_PIXELS * (min(len(entries), _ROWS_SHOWN) + 1) + 3
    figures.draw_table(
        rows(entries),
        "Runs and models",
        file="runs-and-models",
        height=height,
        column_config={
            "note": st.column_config.TextColumn(width="medium"),
            "parameters": st.column_config.NumberColumn(format="compact"),
            "exact match (%)": st.column_config.NumberColumn(format="%.1f"),
            "BLEU": st.column_config.NumberColumn(format="%.1f"),
            "loss": st.column_config.NumberColumn(format="%.3f"),
            "weights (MB)": st.column_config.NumberColumn(format="%.1f"),
            "changed": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )
    st.caption(plain(summary(entries)))
    for entry in entries:
        if entry.problem:
            st.caption(plain(f"{entry.name} cannot be opened: {entry.problem}"))
