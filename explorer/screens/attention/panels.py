"""The panels below the views of the Attention page, and the row of tabs that opens them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.browser.frame import arrival
from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.decoding.view_options import parse_view
from explorer.locale.messages import t
from explorer.web import session
from explorer.web.panel_choices import OPENED_VIEW, name_of, open_panel

Draw = Callable[[Selection, Translation, Place], None]

# Name in the address → label on the page.
PANELS = {
    "cell": "One cell",
    "aggregates": "Aggregates",
    "tree": "Tree",
    "compare": "Compare",
    "forcing": "Teacher forcing",
    "own": "Your own attention",
    "export": "Export",
}
_KEY = "attention_panel"
_OWN = "_attention_panel"  # in the session: the panel that the row of tabs opened
_ARRIVAL = "_attention_arrival"  # how often a click has opened a panel, and whether the latest takes the focus
_BY_TOKEN = ("cell", "aggregates", "compare")


def _drawer(name: str) -> Draw:
    """The function that draws the panel `name`, imported when first opened: each panel imports its own figures."""
    if name == "cell":
        from explorer.screens.attention.cell import draw
    elif name == "aggregates":
        from explorer.screens.attention.compare import draw_aggregates as draw
    elif name == "tree":
        from explorer.web.decode_tree_panel import draw
    elif name == "compare":
        from explorer.screens.attention.compare import draw_comparison as draw
    elif name == "forcing":
        from explorer.screens.attention.compare import draw_forced as draw
    elif name == "own":
        from explorer.screens.attention.own_file import draw
    else:
        from explorer.screens.attention.downloads import draw
    return draw


def arrive() -> None:
    """Note that the whole page runs: the view that a panel opened is on screen."""
    st.session_state[OPENED_VIEW] = False


def follow() -> None:
    """Run the whole page if a panel has just opened another view: a fragment cannot show another sentence."""
    if st.session_state.get(OPENED_VIEW):
        st.rerun()


def choose(asked: str | None = None) -> str:
    """Draw the row of tabs; return the name of the open panel, or an empty string. `asked` opens a panel now."""
    names = list(PANELS)
    wanted = asked or name_of(session.selection().panel)
    # The row follows a change of the session, such as an opened link; otherwise the widget decides.
    if _KEY not in st.session_state or st.session_state.get(_OWN) != wanted:
        st.session_state[_KEY] = wanted if wanted in names else None
    chosen = st.segmented_control(
        t("Look closer"), names, format_func=PANELS.__getitem__, key=_KEY, label_visibility="collapsed"
    )
    st.session_state[_OWN] = chosen or ""
    if chosen and (asked or chosen != name_of(session.selection().panel)):
        turn, _ = st.session_state.get(_ARRIVAL, (0, False))
        # After a click in the row of tabs, the focus stays there.
        st.session_state[_ARRIVAL] = turn + 1, bool(asked)
    open_panel(chosen or "")
    return chosen or ""


def draw(name: str, selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the panel called `name`, if there is one."""
    if name in PANELS:
        turn, focus = st.session_state.get(_ARRIVAL, (0, False))
        arrival(PANELS[name], turn, focus=focus, key="attention_arrival")
        if name in _BY_TOKEN and parse_view(selection.view).words:
            st.caption(t("This panel shows tokens, as the model reads them, even if whole words are shown above."))
        _drawer(name)(selection, translation, at)
