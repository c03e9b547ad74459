"""What stands in place of a part that cannot be drawn: the reason where it is known, and a way on where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

import streamlit as st
from streamlit.runtime.state.session_state import WStates

from explorer.locale.text import plain
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


def contain_callbacks() -> None:
    """Contain what goes wrong in a widget's callback, on every page: the run goes on, and its first part says so.

    Callbacks run before the page, where no block is around them: Streamlit would show an empty page with its own
    message. It has no hook for this, so its one function that calls them is wrapped, once per process.
    """
    if hasattr(WStates.call_callback, "__wrapped__"):
        return
    call = WStates.call_callback

    @wraps(call)
    def call_contained(states: WStates, widget_id: str) -> None:
        try:
            call(states, widget_id)
        except CheckpointError as broken:
            st.session_state[_SAID] = plain(str(broken))
        except Exception as fault:
            faults.report(fault)
            st.session_state[_SAID] = NOT_DONE

    WStates.call_callback = call_contained  # type: ignore[method-assign, assignment]


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
