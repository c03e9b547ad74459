"""Which run a person looks at: a box on the Train and Runs pages, kept in the address as `run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

RUN = "run"
NEW = ""
_WISH = "_run_wish"


def choose_run(name: str) -> None:
    """Look at this run from the next script run on; `NEW` is the form for a new one."""
    # Twice: a box whose options have just changed is a new box to Streamlit, which writes its value into the address
    # only when it is set once more.
    st.session_state[_WISH] = (name, 2)


def run_box(label: str, names: Sequence[str], format_func: Callable[[str], str]) -> str:
    """Draw the box and return the chosen name; a name in the address that does not exist any more is passed over."""
    options = list(names)
    wish, times = st.session_state.pop(_WISH, (None, 0))
    if wish is not None:
        if wish not in options:
            options.append(wish)
        st.session_state[RUN] = wish
        if times > 1:
            st.session_state[_WISH] = (wish, times - 1)
    elif st.session_state.get(RUN, options[0]) not in options:
        st.session_state[RUN] = options[0]
    chosen = st.selectbox(
        label, options, format_func=format_func, key=RUN, bind="query-params", label_visibility="collapsed"
    )
    return chosen or options[0]


def settle_choice() -> None:
    """Called when a page is drawn: one run more, if the address does not say yet what was chosen."""
    if is_settling():
        st.rerun()


def is_settling() -> bool:
    """Whether the page is going to be drawn once more by itself."""
    return _WISH in st.session_state
