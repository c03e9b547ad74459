"""What can be opened below the views of the Attention page: the numbers of a cell, aggregates, comparisons, export."""

from __future__ import annotations

import importlib
import importlib.util

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import Translation
from explorer.web import session
from explorer.web.panel_choices import name_of, open_panel

# Name in the address → what it is called. Each is a module of this package with draw(selection, shown, at).
PANELS = {
    "cell": "One cell",
    "aggregates": "Aggregates",
    "tree": "Tree",
    "compare": "Compare",
    "forcing": "Teacher forcing",
    "own": "Your own attention",
    "export": "Export",
}
_KEY, _LAST = "attention_panel", "_attention_panel"
LED = "_attention_led"  # set where a panel leads elsewhere from a callback, which cannot run the page itself
_BY_TOKEN = ("cell", "aggregates", "compare")


def offers(name: str) -> bool:
    """Whether this panel is there."""
    return name in PANELS and importlib.util.find_spec(f"explorer.screens.attention.{name}") is not None


def arrive() -> None:
    """The whole page runs, so wherever a panel led, it is there now."""
    st.session_state[LED] = False


def follow() -> None:
    """If a panel has just led elsewhere, run the whole page for it: another sentence is more than a fragment."""
    if st.session_state.get(LED):
        st.rerun()


def choose(asked: str | None = None) -> str:
    """Let the person choose a panel, go there, and return its name; empty while none is open. `asked` opens one now."""
    names = [name for name in PANELS if offers(name)]
    if not names:
        return ""
    wanted = asked or name_of(session.place().panel)
    # Links, and whatever else moves the session, are followed; otherwise the widget knows best.
    if _KEY not in st.session_state or wanted != st.session_state.get(_LAST):
        st.session_state[_KEY] = wanted if wanted in names else None
    found = st.segmented_control(
        "Look closer", names, format_func=PANELS.__getitem__, key=_KEY, help="Choose again to close."
    )
    st.session_state[_LAST] = found or ""
    open_panel(found or "")
    return found or ""


def draw(name: str, selection: Selection, shown: Translation, at: Place) -> None:
    """Draw the panel called `name`, if there is one."""
    if offers(name):
        if name in _BY_TOKEN and "words" in selection.view.split("."):
            st.caption(plain("This panel goes by tokens, as the model does, also while whole words are shown above."))
        importlib.import_module(f"explorer.screens.attention.{name}").draw(selection, shown, at)
