"""Run a page about one sentence as one fragment: the sentence field on top, and everything that depends on it.

A new sentence changes neither the sidebar nor the frame. Running them again, and drawing them again in the browser,
takes longer than the translation, and in a class that types at the same time, everybody would wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import streamlit as st

from explorer.web import address, frame, runtime, session, sidebar
from explorer.web.faults import contained

_WHOLE_PAGE = "_sentence_followed"


def follow_sentence() -> None:
    """Run the whole page for each new sentence of this session, because the sidebar now depends on it as well."""
    st.session_state[_WHOLE_PAGE] = True


def draw(content: Callable[[], None]) -> None:
    """Draw the sentence field and then `content`; using either of them reruns only this part of the page."""
    if not runtime.models():
        content()
        return
    part = _with_field(content)
    if st.session_state.get(_WHOLE_PAGE):
        with st.container():  # a fragment has one, too
            part()
    else:
        st.fragment(part)()


def draw_embedded(content: Callable[[], None]) -> None:
    """Draw `content` in a frame of another page, below a sentence field if the frame's address asks for one."""
    if address.present().get(frame.FIELD) == "yes":
        draw(content)
    else:
        content()


def _with_field(content: Callable[[], None]) -> Callable[[], None]:
    @wraps(content)  # Streamlit distinguishes the fragments of two pages by this name
    @contained("sentence_page")
    def part() -> None:
        if st.session_state.get(session.MODEL) not in runtime.models():
            st.rerun()  # the model has been deleted or damaged meanwhile: the sidebar says so
        sidebar.draw_sentence(labelled=False)
        content()

    return part
