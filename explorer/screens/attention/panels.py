"""The panels below the views of the Attention page, and the row of tabs that opens them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.browser.frame import arrival
from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.decoding.view_options import parse_view
from explorer.locale.messages import message, t, translated
from explorer.web import address, session
from explorer.web.panel_choices import ARRIVAL, OPENED_VIEW, arrive_at_panel, name_of, open_panel

Draw = Callable[[Selection, Translation, Place], None]

# Name in the address → label on the page.
PANELS = {
    "cell": message("One cell"),
    "compare": message("Compare"),
    "forcing": message("Teacher forcing"),
    "export": message("Export"),
}
_KEY = "attention_panel"
_OWN = "_attention_panel"  # in the session: the panel that the row of tabs opened
_BY_TOKEN = ("cell", "compare")


def _drawer(name: str) -> Draw:
    """The function that draws the panel `name`, imported when first opened: each panel imports its own figures."""
    if name == "cell":
        from explorer.screens.attention.cell import draw
    elif name == "compare":
        from explorer.screens.attention.compare import draw_comparison as draw
    elif name == "forcing":
        from explorer.screens.attention.compare import draw_forced as draw
    else:
        from explorer.screens.attention.downloads import draw
    return draw


def leave() -> None:
    """Follow a link to a panel that has gone: the tree to Translate's paths, a file of one's own to its own page."""
    asked = address.present()
    name = name_of(asked.pop("panel", ""))
    if name == "tree":
        session.move(panel="")
        st.switch_page("pages/translate.py", query_params=asked)
    if name == "own":
        session.move(panel="")
        st.switch_page("pages/own.py")


def arrive() -> None:
    """Note that the whole page runs: the view that a panel opened is on screen. A panel's former name is replaced."""
    st.session_state[OPENED_VIEW] = False
    name, dot, choices = session.selection().panel.partition(".")
    if name == "aggregates":
        session.move(panel=f"compare.way-heads{dot}{choices}")


def follow() -> None:
    """Run the whole page if a panel has just opened another view: a fragment cannot show another sentence."""
    if st.session_state.get(OPENED_VIEW):
        st.rerun()


def choose(asked: str | None = None) -> str:
    """Draw the row of tabs; return the name of the open panel, or an empty string. `asked` opens a panel now."""
    names = list(PANELS)
    wanted = asked or name_of(session.selection().panel)
    linked = wanted in names and st.session_state.get(_OWN, "") != wanted
    # The row follows a change of the session, such as an opened link; otherwise the widget decides.
    if _KEY not in st.session_state or st.session_state.get(_OWN) != wanted:
        st.session_state[_KEY] = wanted if wanted in names else None
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = st.segmented_control(
            t("Look closer"),
            names,
            format_func=lambda name: translated(PANELS[name]),
            key=_KEY,
            label_visibility="collapsed",
        )
        st.page_link("pages/own.py", label=t("Attention of another model"), icon=":material/upload_file:")
    st.session_state[_OWN] = chosen or ""
    if chosen and (asked or linked or chosen != name_of(session.selection().panel)):
        arrive_at_panel(focus=bool(asked))  # after a click in the row of tabs, the focus stays there
    open_panel(chosen or "")
    return chosen or ""


def draw(name: str, selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the panel called `name`, if there is one."""
    if name in PANELS:
        turn, focus = st.session_state.get(ARRIVAL, (0, False))
        arrival(translated(PANELS[name]), turn, focus=focus, key="attention_arrival")
        if name in _BY_TOKEN and parse_view(selection.view).words:
            st.caption(t("This panel shows tokens, as the model reads them, even if whole words are shown above."))
        _drawer(name)(selection, translation, at)
