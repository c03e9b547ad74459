"""A page about one sentence: the field on top and all that follows from the sentence run again as one part.

A new sentence changes neither the sidebar nor the frame. Running them again, and drawing them again in the browser,
takes longer than the translation, and a class that types at the same time waits for all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import streamlit as st

from explorer.web import runtime, session, sidebar
from explorer.web.faults import contained

_FOLLOWED = "_sentence_followed"


def follow_sentence() -> None:
    """Have the whole page run for a new sentence, in this session from now on: what else is drawn depends on it."""
    st.session_state[_FOLLOWED] = True


def draw(content: Callable[[], None], *, labelled: bool) -> None:
    """Draw the sentence field and then `content`; whoever uses the field or the content runs only this part again."""
    if not runtime.models():
        content()
        return
    part = _with_field(content, labelled)
    if st.session_state.get(_FOLLOWED):
        with st.container():  # as a fragment has one
            part()
    else:
        st.fragment(part)()


def _with_field(content: Callable[[], None], labelled: bool) -> Callable[[], None]:
    @wraps(content)  # the fragments of two pages are told apart by this name
    @contained("sentence_page")
    def part() -> None:
        if st.session_state.get(session.MODEL) not in runtime.models():
            st.rerun()  # it has been deleted or damaged meanwhile: the sidebar says so
        sidebar.draw_sentence(labelled=labelled)
        content()

    return part
