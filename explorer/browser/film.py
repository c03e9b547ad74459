"""The film: all heads of one kind of attention over the steps of a training run, moved through in the browser."""

from __future__ import annotations

import streamlit as st

from explorer.browser.film_payload import Film, Place, encode, place_from
from explorer.browser.registration import component

_component = component("film", "film")


def film_view(film: Film, *, key: str) -> Place:
    """Draw the film and return the position, which the browser reports 250 ms after the last move.

    Raises:
        ValueError: the frames do not fit together (see :func:`explorer.browser.film_payload.encode`).
    """
    result = _component(key=key, data=encode(film), on_at_change=_nothing, width="stretch", height="content")
    return place_from(result.get("at"), film)


def place_of(film: Film, *, key: str) -> Place:
    """The position that the browser last reported for this film, or else the start."""
    state = st.session_state.get(key)
    return place_from(state.get("at") if state else None, film)


def _nothing() -> None:
    """Registers the value with Streamlit, which then always exists in the result."""
