"""The Attention page: every head of a sentence at a glance, one head closely, and the computation of a weight."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.selection import Selection, to_query
from explorer.decoding.view_options import parse_view
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.screens.attention import panels as attention_panels
from explorer.web import changes_in_force, frame, sentence_page, session, sidebar
from explorer.web.attention_views import draw_heads
from explorer.web.faults import contained
from explorer.web.open_translation import (
    OpenTranslation,
    address_of,
    draw_answer,
    is_guessed,
    leave_lost_model,
    open_translation,
    own_choice,
)
from model.points import attention_scope


def draw() -> None:
    """Draw the whole page."""
    attention_panels.leave()
    if frame.is_embedded():
        sentence_page.draw_embedded(_embedded)
        return
    sentence_page.draw(_attend)


def _embedded() -> None:
    """Draw the views alone, in a frame of another page."""
    if (opened := open_translation(edited=True)) is not None:
        _view(opened)


def _attend() -> None:
    """Draw everything that depends on the sentence."""
    opened = open_translation(edited=True)
    if opened is None:
        return
    with st.container(key="answer", gap="xxsmall"):
        with draw_answer(opened):
            _draw_way_to_machine(opened)
        changes_in_force.draw_edited(opened.translation)
        choice = None if is_guessed(opened) else own_choice(opened)
        if lines := [*filter(None, [choice]), *map(str, opened.translation.notes)]:
            st.caption(explained(" ".join(lines)))
    attention_panels.arrive()
    _explore(opened)


def _draw_way_to_machine(opened: OpenTranslation) -> None:
    """Draw the button that opens the place on screen as a block of the machine, whose links lead back here."""
    label, about = t("See it in the machine"), t("The layer and head on screen, as a block of the whole model")
    if st.button(label, key="to_machine", type="tertiary", icon=":material/account_tree:", help=about):
        here = address_of(opened)  # read now, because the views may have moved since the page was drawn
        block = attention_scope(here.kind, max(1, here.layer) - 1) + (f".h{here.head}" if here.head else "")
        query = to_query(Selection(model=here.model, text=here.text, path=here.path, step=here.step))
        st.switch_page("pages/inside.py", query_params=query | {"inside_tab": "The machine", "block": block})


@st.fragment
@contained("views")
def _explore(opened: OpenTranslation) -> None:
    """Draw the views and the panel below them; their messages rerun only this part of the page."""
    leave_lost_model(opened)
    attention_panels.follow()
    result = draw_heads(opened, key="heads", explains=True)
    if parse_view(result.view).guess != is_guessed(opened):
        st.rerun()  # what is around the views appears or disappears
    if is_guessed(opened):
        session.write_address(address_of(opened))
        return  # panels tell the words to be guessed, as the views do
    panel = attention_panels.choose("cell" if result.explain else "export" if sidebar.asked("export") else None)
    here = address_of(opened)
    with contained("panel"):
        attention_panels.draw(panel, here, opened.translation, result.place)
    here = address_of(opened)
    session.write_address(here)  # last, because panels have choices of their own
    if sidebar.asked("embed"):
        from explorer.web import embedding

        embedding.draw(opened, result.place, view="heads")


@st.fragment
def _view(opened: OpenTranslation) -> None:
    """Draw the views; their messages rerun only this part of the page."""
    way_out = frame.way_out()
    draw_heads(opened, key="heads", explains=False)
    session.write_address(address_of(opened))
    frame.draw_way_out(way_out)
