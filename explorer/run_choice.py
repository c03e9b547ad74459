"""Which run a person looks at: a box on the Train and Runs pages, kept in the address as `run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

RUN = "run"
NEW = ""
_WISH = "_run_wish"


def choose_run(name: str) -> None:
    """Look at this run from the next script run on; `NEW` is the form for a new one."""
    st.session_state[_WISH] = name


def run_box(label: str, names: Sequence[str], format_func: Callable[[str], str], *, visible: bool = True) -> str:
    """Draw the box and return the chosen name; a name in the address that does not exist any more is passed over."""
    options = list(names)
    wish = st.session_state.pop(_WISH, None)
    if wish is not None and wish not in options:
        options.append(wish)
    if wish is not None:
        st.session_state[RUN] = wish
    elif st.session_state.get(RUN, options[0]) not in options:
        st.session_state[RUN] = options[0]
    chosen = st.selectbox(
        label,
        options,
        format_func=format_func,
        key=RUN,
        bind="query-params",
        label_visibility="visible" if visible else "collapsed",
    )
    return chosen or options[0]
