"""The run being viewed: a select box on the Train page, in the address as `run`, and one on Runs, as `entry`.

There are two because the Runs page always shows something, while the Train page begins with the form for a new run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from explorer.locale.text import plain
from explorer.web.address import Parameter
from model.config import nearest
from model.user_error import readable

RUN, ENTRY = "run", "entry"  # keys of the boxes, and names of their URL parameters
NEW = ""
_NEXT, _MISSING = "_run_next", "_run_missing"


def choose_run(name: str, key: str = RUN) -> None:
    """Select this run from the next script run on; `NEW` selects the form for a new run."""
    st.session_state[_NEXT] = (key, name)


def run_box(key: str, label: str, names: Sequence[str], format_func: Callable[[str], str] = str) -> str:
    """Draw the box and return the chosen name; :func:`draw_missing` says so if the address names one that is not there.

    The address names the choice unless it is the first of `names`.
    """
    options, address = list(names), Parameter(key)
    # Where nothing has been chosen yet, even a name that this session wrote is a request: a page link has led here.
    asked = address.asked() if key in st.session_state else address.present()
    if key not in st.session_state:
        _forget_missing()  # of a visit to the page before this one
    for_key, chosen = st.session_state.get(_NEXT, ("", ""))
    if for_key == key:  # a choice for the other page's box waits for it
        del st.session_state[_NEXT]
        _forget_missing()
        if chosen not in options:  # a run that has just been started
            options.append(chosen)
    else:
        chosen = asked if asked in options else st.session_state.get(key)
        if asked and asked not in options:
            st.session_state[_MISSING] = f"There is no '{readable(asked)}' here{nearest(asked, filter(None, names))}"
    # Set even if unchanged: to Streamlit, a box whose options have changed is a new one.
    st.session_state[key] = chosen if chosen in options else options[0]
    box = st.selectbox(
        label, options, format_func=format_func, key=key, label_visibility="collapsed", on_change=_forget_missing
    )
    chosen = box or options[0]
    address.write("" if chosen == options[0] else chosen)
    return chosen


def draw_missing() -> None:
    """Say that the run or model named by a link does not exist, until another is chosen: the page is often redrawn.

    The page has room where the box has none.
    """
    if said := st.session_state.get(_MISSING, ""):
        st.warning(plain(said))


def _forget_missing() -> None:
    st.session_state.pop(_MISSING, None)
