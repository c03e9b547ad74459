"""What is said of a translation that follows a path which a person chose, and the way back to the model's own."""

from __future__ import annotations

import streamlit as st

from explorer.locale.text import quoted
from explorer.web import session
from explorer.web.open_translation import OpenTranslation


def draw_way_back(opened: OpenTranslation) -> None:
    """Beside the translation: the button that leads back, if its path was chosen."""
    if opened.selection.path is None:
        return
    st.button(
        "Back to the model's own choice",
        icon=":material/undo:",
        key="own_choice",
        on_click=session.move,
        kwargs={"path": None},
    )


def own_choice(opened: OpenTranslation) -> str | None:
    """A sentence on what the model says by itself, to be escaped; None where that is on screen."""
    if opened.selection.path is None:
        return None
    if opened.own.text == opened.shown.text:
        return "This is a chosen path; it says what the model says by itself."
    stop = "" if opened.own.text.endswith((".", "!", "?")) else "."
    return f"This is a chosen path; by itself, the model says {quoted(opened.own.text)}{stop}"
