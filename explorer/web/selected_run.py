"""The run being viewed: a select box on the Train page, in the address as `run`, and one on Runs, as `entry`.

There are two because the Runs page always shows something, while the Train page begins with the form for a new run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

RUN, ENTRY = "run", "entry"  # keys of the boxes, and names of their URL parameters
NEW = ""
_WISH = "_run_wish"


def choose_run(name: str, key: str = RUN) -> None:
    """Select this run from the next script run on; `NEW` selects the form for a new run."""
    # Twice: to Streamlit, a box whose options have just changed is a new box. Its value is written into the address
    # only when it is set once more.
    st.session_state[_WISH] = (key, name, 2)


def run_box(key: str, label: str, names: Sequence[str], format_func: Callable[[str], str] = str) -> str:
    """Draw the box and return the chosen name; a name in the address that no longer exists is ignored."""
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
    """Called when a page is drawn: rerun it once more if the address does not name the chosen run yet."""
    if is_settling():
        st.rerun()


def is_settling() -> bool:
    """Whether the page will rerun once more without user input."""
    return _WISH in st.session_state
