"""Which run a person looks at: a box on the Train page, kept in the address as `run`, and one on Runs, as `entry`.

They are two, because the Runs page always shows something, and the Train page begins with the form for a new run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

RUN, ENTRY = "run", "entry"  # keys of the boxes, and names of their URL parameters
NEW = ""
_WISH = "_run_wish"


def choose_run(name: str, key: str = RUN) -> None:
    """Look at this run from the next script run on; `NEW` is the form for a new one."""
    # Twice: a box whose options have just changed is a new box to Streamlit, which writes its value into the address
    # only when it is set once more.
    st.session_state[_WISH] = (key, name, 2)


def run_box(key: str, label: str, names: Sequence[str], format_func: Callable[[str], str] = str) -> str:
    """Draw the box and return the chosen name; a name in the address that does not exist any more is passed over."""
    options = list(names)
    wished_key, wish, times = st.session_state.pop(_WISH, (key, None, 0))
    if wished_key == key and wish is not None:
        if wish not in options:
            options.append(wish)
        st.session_state[key] = wish
        if times > 1:
            st.session_state[_WISH] = (key, wish, times - 1)
    elif st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    chosen = st.selectbox(
        label, options, format_func=format_func, key=key, bind="query-params", label_visibility="collapsed"
    )
    return chosen or options[0]


def settle_choice() -> None:
    """Called when a page is drawn: one run more, if the address does not say yet what was chosen."""
    if is_settling():
        st.rerun()


def is_settling() -> bool:
    """Whether the page is going to be drawn once more by itself."""
    return _WISH in st.session_state
