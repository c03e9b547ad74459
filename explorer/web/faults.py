"""What stands in place of a part that cannot be drawn: the reason where it is known, and a way on where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from explorer.locale.text import plain
from explorer.web.streamlit_private import contain_callbacks
from model import faults
from model.folder import CheckpointError

FAULT = (
    "This part cannot be drawn because of a fault in Headlight; it is not something that you did. The rest of the app "
    "works. Try again, or choose another model, sentence or tab. Whoever runs this server finds the details in its log."
)
NOT_DONE = (
    "What you asked for could not be done because of a fault in Headlight; it is not something that you did. The rest "
    "of the app works. Whoever runs this server finds the details in its log."
)
_SAID = "_fault_in_callback"  # in the session: Markdown


def say_faults_of_callbacks() -> None:
    """Have the run after a callback that went wrong go on, and its first part say what happened."""
    contain_callbacks(_remember)


def _remember(fault: Exception) -> None:
    if isinstance(fault, CheckpointError):
        st.session_state[_SAID] = plain(str(fault))
    else:
        faults.report(fault)
        st.session_state[_SAID] = NOT_DONE


@contextmanager
def contained(part: str) -> Iterator[None]:
    """Draw a part of a page inside the block, or as a decorator; what goes wrong there ends the part, not the page.

    `part` names it in widget keys. A model that is gone or damaged is a sentence. Anything unforeseen goes to the log,
    and the button draws the part again. What went wrong in a callback before it is said first.
    """
    if said := st.session_state.pop(_SAID, ""):
        st.error(said)
    try:
        yield
    except CheckpointError as broken:
        st.error(plain(str(broken)))
    except Exception as fault:
        faults.report(fault)
        st.error(FAULT)
        st.button("Try again", key=f"{part}_again", icon=":material/refresh:")
