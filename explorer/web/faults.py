"""Contain faults: a part that cannot be drawn is replaced by the reason, or by a button to try again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from model import faults
from model.folder import CheckpointError

FAULT = message(
    "This part cannot be drawn because of a fault in Headlight, not because of anything you did. The rest of the app "
    "works. Try again, or choose another model, sentence or tab. The server's log has the details."
)
NOT_DONE = message(
    "Your last action failed because of a fault in Headlight, not because of anything you did. The rest of the app "
    "works. The server's log has the details."
)
_MESSAGE = "_fault_in_callback"  # in the session: Markdown


def remember(fault: Exception) -> None:
    """Keep the fault of a callback for the page's first part, which says what happened."""
    if isinstance(fault, CheckpointError):
        st.session_state[_MESSAGE] = plain(str(fault))
    else:
        faults.report(fault)
        st.session_state[_MESSAGE] = translated(NOT_DONE)


@contextmanager
def contained(part: str) -> Iterator[None]:
    """Draw a part of a page inside the block, or as a decorator: an exception ends the part, not the page.

    `part` names it in widget keys. A model that is gone or damaged becomes a sentence. Anything unforeseen goes to the
    log, and a button draws the part again. A failed callback before this run is reported first.
    """
    if said := st.session_state.pop(_MESSAGE, ""):
        st.error(said)
    try:
        yield
    except CheckpointError as broken:
        st.error(plain(str(broken)))
    except Exception as fault:
        faults.report(fault)
        st.error(translated(FAULT))
        st.button(t("Try again"), key=f"{part}_again", icon=":material/refresh:")
