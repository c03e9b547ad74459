"""Components around the figures of a page: mark of an opened panel, links and exports, glossary, history, tour."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from explorer.browser import wire
from explorer.browser.registration import component, nothing
from explorer.locale import language
from explorer.locale.glossary import GLOSSARY, address_of, names_of
from explorer.locale.messages import translated

_arrival = component("arrival", "arrival")
_copy_link = component("copy_link", "copy_link")
_glossary = component("glossary", "glossary")
_history = component("history", "history")
_top_line = component("top_line", "top_line")
_tour = component("tour", "tour")


def arrival(label: str, turn: int, *, focus: bool, key: str) -> None:
    """Draw a mark above a panel that a click has opened. The browser scrolls to it at each new `turn`, but not at 0.

    `focus` also gives it the keyboard focus, and screen readers read its `label`.
    """
    _arrival(key=key, data={"turn": turn, "label": label, "focus": focus})


def copy_link(*, key: str, view: bool = False) -> str:
    """Draw the button that copies the link in the address bar and, on a page with one `view`, two that export it.

    Returns "export" or "embed" in the run in which the user asks for it, otherwise "".
    """
    asked = _copy_link(key=key, data={"view": view}, on_asked_change=nothing).get("asked")
    return asked if view and asked in ("export", "embed") else ""


def glossary() -> None:
    """Explain the terms on this page on hover, focus or tap; call this at the end of the page, where it moves nothing.

    A term is a link to `#term-…`, in Markdown (:func:`explorer.locale.glossary.explained`) as in our own components
    (js/terms.js).
    """
    _glossary(key="glossary", data=_terms(language.current()))


# Always the whole glossary: Streamlit sends a message of this size once per browser tab, a smaller one in each run.
# In bytes: what is no bytes, Streamlit would write as JSON twice in each run.
@lru_cache(maxsize=8)
def _terms(code: str) -> bytes:
    with language.written_in(code):
        terms = [
            (address_of(entry.term), names_of(entry)[0], translated(entry.plain), translated(entry.explanation))
            for entry in GLOSSARY
        ]
    return wire.write({"terms": terms, "language": code}, {})


def history() -> None:
    """Keep in the browser's history what the user did; call this at the end of the page, where it moves nothing."""
    _history(key="history")


def top_line(*, key: str, on_tour: Callable[[], None], continues: bool = False) -> None:
    """Draw the line that introduces the app; the tour's button calls `on_tour` before the next run of the page.

    The tour is about cross-attention, so a model that `continues` a text has no button.
    """
    _top_line(key=key, data={"continues": continues}, on_tour_change=on_tour)


def tour(turn: int, *, key: str) -> None:
    """Mount the tour of the Translate page, whose cards describe what the stepper shows.

    It starts whenever `turn` differs from its last start in this browser tab. Its code is fetched only then.
    """
    _tour(key=key, data={"turn": turn})
