"""What can be opened below the views of the Attention page: the numbers of a cell, aggregates, comparisons, export."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import Translation
from explorer.web import session
from explorer.web.panel_choices import name_of, open_panel

Draw = Callable[[Selection, Translation, Place], None]

# Name in the address → what it is called on the page.
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


def _drawer(name: str) -> Draw:
    """What draws the panel called `name`; imported when it is first opened, because each brings its own figures."""
    if name == "cell":
        from explorer.screens.attention.cell import draw
    elif name == "aggregates":
        from explorer.screens.attention.aggregates import draw
    elif name == "tree":
        from explorer.web.decode_tree_panel import draw
    elif name == "compare":
        from explorer.screens.attention.compare import draw
    elif name == "forcing":
        from explorer.screens.attention.teacher_forcing import draw
    elif name == "own":
        from explorer.screens.attention.attention_file import draw
    else:
        from explorer.screens.attention.export import draw
    return draw


def arrive() -> None:
    """The whole page runs, so wherever a panel led, it is there now."""
    st.session_state[LED] = False


def follow() -> None:
    """If a panel has just led elsewhere, run the whole page for it: another sentence is more than a fragment."""
    if st.session_state.get(LED):
        st.rerun()


def choose(asked: str | None = None) -> str:
    """Let the person choose a panel, go there, and return its name; empty while none is open. `asked` opens one now."""
    names = list(PANELS)
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
    if name in PANELS:
        if name in _BY_TOKEN and "words" in selection.view.split("."):
            st.caption(plain("This panel goes by tokens, as the model does, also while whole words are shown above."))
        _drawer(name)(selection, shown, at)
