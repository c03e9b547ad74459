"""What the teaching pages share: the sentence at work, a figure with its caption and table, and formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from explorer import runtime, session
from explorer.facts import plain
from explorer.figures.draw import draw_table
from explorer.figures.plots import Columns, Plot
from explorer.opened import opened
from explorer.selection import Selection
from explorer.translator import Translation

if TYPE_CHECKING:
    from model.transformer import Transformer

_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def at_work() -> tuple[Selection, Translation] | None:
    """The selection and its translation; None, after saying why, where there is nothing to show.

    The address bar is brought up to date.
    """
    found = opened()
    if found is None:
        return None
    selection, shown = found.selection, found.shown
    session.write_address(found.address)
    if not is_transformer(shown.model):
        st.info("This page is about the Transformer, and the chosen model is none. Choose another one on the left.")
        return None
    return selection, shown


def is_transformer(name: str) -> bool:
    """Whether the model of this name has what these pages show: positions, masks and layers of attention."""
    from model.transformer import Transformer

    return isinstance(runtime.translator(name).loaded.model, Transformer)


def transformer(name: str) -> Transformer:
    """The Transformer of this name.

    Raises:
        CheckpointError: it cannot be opened. TypeError: it is no Transformer.
    """
    from model.transformer import Transformer

    model = runtime.translator(name).loaded.model
    if not isinstance(model, Transformer):
        raise TypeError(f"{name} is no Transformer.")
    return model


def draw_plot(plot: Plot, key: str, *, numbers: bool = True) -> None:
    """Draw a Plotly figure with its title, its caption, and its numbers as a table that is sent when it is opened."""
    if plot.title:
        st.markdown(f"##### {plain(plot.title)}")
    st.plotly_chart(plot.figure, key=key, config=_CONFIG, alt=plot.caption)
    st.caption(plain(plot.caption))
    if numbers and plot.table:
        draw_numbers(plot.table, plot.caption, key)


def draw_numbers(table: Columns, alt: str, key: str, label: str = "The numbers as a table") -> None:
    """A table behind a fold; it is sent when the fold is opened."""
    fold = st.expander(label, key=f"{key}_numbers", on_change="rerun")
    if fold.open:
        with fold:
            draw_table(table, alt)


def heading(question: str, answer: str) -> None:
    """The question that a page answers and the first sentence of the answer; both may hold a person's words."""
    st.markdown(f"#### {plain(question)}")
    st.caption(plain(answer))
