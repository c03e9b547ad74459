"""What pages have around their figures: a mark that a click scrolls to, links to copy, glossary, history, the tour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from explorer.browser.registration import component, nothing
from explorer.locale.glossary import GLOSSARY, address_of

_arrival = component("arrival", "arrival")
_copy_link = component("copy_link", "copy_link")
_glossary = component("glossary", "glossary")
_history = component("history", "history")
_top_line = component("top_line", "top_line")
_tour = component("tour", "tour")
_LAST_MOVE = "_history_last"
# All of it, always: a message of this size is sent once per browser tab, a smaller one again with each script run.
# A tuple: of a dictionary or a list, Streamlit asks pandas whether it is a table, and imports it for that.
_TERMS = tuple((address_of(entry.term), entry.term, entry.plain, entry.explanation) for entry in GLOSSARY)


def arrival(label: str, turn: int, *, focus: bool, key: str) -> None:
    """Draw a mark above what a click has opened. With each new `turn` the browser scrolls to it; 0 never scrolls.

    `focus` also gives it the keyboard's focus, and screen readers say its `label`.
    """
    _arrival(key=key, data={"turn": turn, "label": label, "focus": focus})


def copy_link(*, key: str, embeds: bool = False) -> None:
    """Draw buttons that copy the link in the address bar and, if `embeds`, the markup that embeds it elsewhere."""
    _copy_link(key=key, data={"embeds": embeds})


def glossary() -> None:
    """Let the terms on this page explain themselves; call this at the end of the page, where it moves nothing.

    A term is a link to `#term-…`, in Markdown (:func:`explorer.locale.glossary.explained`) as in our own components
    (js/terms.js).
    """
    _glossary(key="glossary", data={"terms": _TERMS})


def history() -> None:
    """Listen to the browser's Back and Forward; call this at the end of the page, where it moves nothing."""
    _history(key="history", on_moved_change=nothing)


def moved() -> bool:
    """Whether the person, and not a request that came late, asks for an older address; true once for each move."""
    state: Any = st.session_state.get("history")
    last = state.get("moved") if state else None
    news = last is not None and last != st.session_state.get(_LAST_MOVE)
    if news:
        st.session_state[_LAST_MOVE] = last
    return news


def top_line(*, key: str, on_tour: Callable[[], None]) -> None:
    """Draw what this is; `on_tour` is called, before the next run of the page, when the tour's button is pressed."""
    _top_line(key=key, on_tour_change=on_tour)


def tour(turn: int, *, key: str) -> None:
    """Mount the tour of the Translate page, whose cards say what the stepper shows just now.

    It starts when `turn` is another number than at its last start in this browser tab. Its code is sent only then.
    """
    _tour(key=key, data={"turn": turn})
