"""Long measurements on a page: a button that starts one, a progress bar, stopping and resuming, the server's store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from explorer.locale.messages import Later, t
from explorer.locale.text import plain
from explorer.probing.reporting import Report
from explorer.web.measurements import PATIENCE, Key, store

Result = TypeVar("Result")
_STOPPED, _ASKED = "probe_stopped", "probe_asked"


def asked(key: Key, label: str, *, by_link: bool = False, quiet: bool = False) -> bool:
    """Whether long work has been requested; if not, draw the button that requests it.

    `by_link`: the address names a result of this work, so following the link is a request. `quiet`: another button
    of the page is its main one.
    """
    started: set[Key] = st.session_state.setdefault(_ASKED, set())
    if by_link:
        started.add(key)
    if key in started:
        return True
    st.button(
        label, type="secondary" if quiet else "primary", key=f"ask-{'-'.join(key)}", on_click=started.add, args=(key,)
    )
    return False


def with_progress(
    key: Key, make: Callable[[Report], Result], label: str, *, look: Callable[[], None] = lambda: None
) -> Result | None:
    """A result from the store, or computed now behind a progress bar with a Stop button; None while it is stopped.

    The work runs in a server thread: a click restarts this script, and the new run finds the work in progress. `look`
    is called a few times a second meanwhile, and may start the script again.
    """
    result: Result | None = store().find(key)
    if result is not None:
        return result
    stopped: set[Key] = st.session_state.setdefault(_STOPPED, set())
    name = "-".join(key)
    if key in stopped:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(t("Go on"), key=f"go-{name}", on_click=stopped.discard, args=(key,))
            st.caption(
                plain(
                    t(
                        "{label}: stopped. For {minutes:.0f} minutes it can continue where it stopped.",
                        label=label,
                        minutes=PATIENCE / 60,
                    )
                )
            )
        return None
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text=plain(label))
        st.button(t("Stop"), key=f"stop-{name}", on_click=_stop, args=(key,))

    def report(done: float, text: str | Later) -> None:
        # Also if nothing has changed: only in such a call does Streamlit notice that Stop was pressed.
        bar.progress(min(max(done, 0.0), 1.0), text=plain(str(text) or label))
        look()

    try:
        result = store().get(key, make, report)
    except Exception:  # the caller reports it; after Streamlit's own signals, the next run redraws the bar
        place.empty()
        raise
    place.empty()
    return result


def _stop(key: Key) -> None:
    st.session_state[_STOPPED].add(key)
    store().stop(key)


def forget_stops() -> None:
    """Allow stopped work to start again, after the sample has changed."""
    st.session_state[_STOPPED] = set()
