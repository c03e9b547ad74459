"""Parts that the pages Positions, Masks, Inside and Probe share: heading, tabs, and figures with tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.charts.plotly_charts import Plot, inked
from explorer.locale.glossary import explained
from explorer.locale.messages import t, translated
from explorer.locale.text import listed, number_marks, plain, quoted
from explorer.web import bound, runtime, session
from explorer.web.bound import URL as URL
from explorer.web.faults import contained
from explorer.web.figures import draw_table
from explorer.web.open_translation import OpenTranslation, address_of, leave_lost_model, open_translation

if TYPE_CHECKING:
    from explorer.decoding.model_description import ModelDescription
    from explorer.decoding.translator import Translation

Tabs = Mapping[
    str, Callable[[], None] | None
]  # the function that draws each tab, by English title; None: needs an encoder
TabsOf = Callable[["Translation", "ModelDescription"], Tabs]

_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def draw_page(name: str, question: str, answer: str, tabs_of: TabsOf, *, lstm_tabs: TabsOf | None = None) -> None:
    """Draw a page that shows a Transformer at work on the current sentence: its question, then its tabs.

    `name` begins the keys of its widgets, and `tabs_of` makes the tabs for a translation and its model. A choice in a
    tab reruns only that tab. Without `lstm_tabs`, the page tells the user of an LSTM that it needs a Transformer.
    """
    heading(question, answer)
    opened = open_translation()
    if opened is not None and not runtime.describe(opened.translation.model).is_transformer:
        if lstm_tabs is None:
            _without_transformer(opened)
            opened = None
        else:
            name, tabs_of = f"{name}_lstm", lstm_tabs
    if opened is not None:
        _name_subject(opened)
        st.fragment(contained(name)(_draw_open_tab))(opened, name, tabs_of)


def _name_subject(opened: OpenTranslation) -> None:
    """Name model and sentence, on a phone only: the sidebar that names them is closed (explorer/web/frame.css)."""
    with st.container(key="phone_subject"):
        st.caption(f"**{plain(opened.translation.model)}** · “{plain(str(st.session_state.get(session.TEXT) or ''))}”")


def _draw_open_tab(opened: OpenTranslation, name: str, tabs_of: TabsOf) -> None:
    leave_lost_model(opened)
    session.write_address(address_of(opened))
    draw_tabs(name, tabs_of(opened.translation, runtime.describe(opened.translation.model)))


def _without_transformer(opened: OpenTranslation) -> None:
    """Say that the page has nothing to show for this model."""
    session.write_address(address_of(opened))
    message = t(
        "This page needs a Transformer; {model} is an LSTM. Choose another model.", model=opened.translation.model
    )
    st.info(plain(message))


def draw_tabs(page: str, tabs: Tabs) -> None:
    """Draw a row of tabs, and the content of the open one, which the address names; say which the model lacks."""
    draws = {name: draw for name, draw in tabs.items() if draw is not None}
    if left_out := [quoted(translated(name)) for name in tabs if name not in draws]:
        draw_caption(
            t(
                "This model has no encoder, so the tab {tabs} is left out.",
                "This model has no encoder, so the tabs {tabs} are left out.",
                tabs=listed(left_out),
                n=len(left_out),
            )
        )
    name, place = bound.tabs(list(draws), f"{page}_tab")
    with place, contained(f"{page}_tab"):
        draws[name]()


def controls(name: str) -> DeltaGenerator:
    """A container for the controls of a tab, which on a phone follow the pictures (frame.css)."""
    return st.container(key=f"controls_{name}")


def draw_plot(plot: Plot, key: str, *, numbers: bool = True, caption: bool = True) -> None:
    """Draw a Plotly figure with its title, its caption, and a table of its numbers, which is sent only when opened.

    Without `caption`, what it says is the alternative text only.
    """
    if plot.title:
        st.markdown(f"##### {plain(plot.title)}")
    figure = inked(plot.figure, dark=st.context.theme.type == "dark")
    figure.layout.separators = number_marks()  # the browser writes the numbers of axes
    st.plotly_chart(figure, key=key, config=_CONFIG, alt=plot.caption)
    if caption:
        draw_caption(plot.caption)
    if numbers and plot.table:
        fold = st.expander(t("The numbers as a table"), key=f"{key}_numbers", on_change="rerun")
        if fold.open:
            with fold:
                draw_table(plot.table, plot.caption, file=key)


def map_columns(maps: int) -> list[tuple[DeltaGenerator, bool]]:
    """Columns for maps side by side, two at least; the last map has the colour bar of all (True), and room for it."""
    columns = st.columns([5 if nth == maps - 1 else 4 for nth in range(max(2, maps))])
    return [(column, nth == maps - 1) for nth, column in enumerate(columns)]


def draw_caption(text: str) -> None:
    """Draw a caption, which may contain user text; its technical terms link to their explanations."""
    st.caption(explained(text))


def heading(question: str, answer: str) -> None:
    """Draw the question that a page answers and the first sentence of the answer ("" = none); user text stays text."""
    st.markdown(f"#### {plain(question)}")
    if answer:
        draw_caption(answer)
