"""The address bar: the parameters of each page, what a link or the user requests, and what this session writes.

A browser sends its full address with every request, and a request may have left before the browser received our last
change. The parameters therefore count as a request only if this session did not write them itself, now or a moment
ago, or if the user went back or forward to them in the browser's history.
Widgets that Streamlit binds to a parameter (`bind="query-params"`) manage their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields

import streamlit as st

from explorer.decoding.selection import Selection

# A replaced address may still come back for this long; slow machines and reconnecting browsers need less.
STALE_SECONDS = 10.0
_MOVED, _PAGE = "_address_moved", "_address_page"
_CHOICES = "_address_choices"  # in the session: the names of the choices of this page
SEVERAL = "\n"  # joins the values of a choice of several, each of which is a parameter of its own in the address


def present() -> dict[str, str]:
    """All parameters in the address as the browser sent it."""
    values = {name: st.query_params.get_all(name) for name in st.query_params}
    return {name: SEVERAL.join(all) if name in _choices() else all[-1] for name, all in values.items() if all}


@contextmanager
def page_run(page: str, *, moved: bool) -> Iterator[None]:
    """Run a whole page; `moved` says that the user went back or forward to this address."""
    if page != st.session_state.get(_PAGE):  # what is in the address now is a request, whatever was here before
        for name in _choices():
            Group((name,))._history().clear()
        _choices().clear()
    st.session_state[_MOVED], st.session_state[_PAGE] = moved, page
    try:
        yield
    finally:
        st.session_state[_MOVED] = False  # later runs are fragments of this page, at the address that it wrote


def page() -> str:
    """The name of the page that is open."""
    return str(st.session_state.get(_PAGE, ""))


def went_back() -> bool:
    """Whether the user went back or forward to this address, so that what it leaves out is not chosen."""
    return bool(st.session_state.get(_MOVED))


def _choices() -> set[str]:
    names: set[str] = st.session_state.setdefault(_CHOICES, set())
    return names


@dataclass(frozen=True)
class Group:
    """Address parameters that are requested together and written together."""

    names: tuple[str, ...]

    def asked(self) -> dict[str, str]:
        """The values that a link or the user requests; empty if there are none, or only what this session wrote."""
        present = self.present()
        return {} if present == self.written() or (self._is_stale() and not went_back()) else present

    def write(self, values: Mapping[str, str]) -> None:
        """Write the values that belong in the page's address, and remove the group's other parameters.

        An empty value removes its parameter as well.
        """
        on_page = _on_page(values)
        history, now = self._history(), time.monotonic()
        if on_page == self.written() and self._is_stale():
            return  # the browser will have this address in a moment
        history[:] = [entry for entry in history if now - entry[0] < STALE_SECONDS]
        history.append((now, on_page))
        # One update, because each adds an entry to the browser's history. An update sends the whole address, so it
        # includes what other groups wrote a moment ago; otherwise the older values that came in would replace theirs.
        # Parameters bound to widgets are left out: only the widgets may write them. An empty list removes a parameter.
        changes = self._changes(on_page)
        if changes:
            for other in (*GROUPS, *(Group((name,)) for name in _choices())):
                if other != self and other._is_stale():
                    changes |= other._changes(_on_page(other.written()))
            st.query_params.update(changes)

    def _changes(self, wanted: Mapping[str, str]) -> dict[str, str | list[str]]:
        """The updates that give the group the `wanted` values; an empty list removes a parameter."""
        present = self.present()
        return {
            **{name: [] for name in present.keys() - wanted.keys()},
            **{
                name: value.split(SEVERAL) if name in _choices() else value
                for name, value in wanted.items()
                if present.get(name) != value
            },
        }

    def current(self) -> dict[str, str]:
        """The values that are requested now, or else those that this session wrote last."""
        return self.asked() or self.written()

    def written(self) -> dict[str, str]:
        """The values that this session wrote last."""
        history = self._history()
        return dict(history[-1][1]) if history else {}

    def present(self) -> dict[str, str]:
        """The values in the address as the browser sent it, whoever wrote them."""
        return {name: value for name, value in present().items() if name in self.names}

    def _is_stale(self) -> bool:
        """Whether the browser sent an address that this session wrote a moment ago and has since replaced."""
        present, now = self.present(), time.monotonic()
        return present != self.written() and any(
            present == own and now - when < STALE_SECONDS for when, own in self._history()
        )

    def _history(self) -> list[tuple[float, dict[str, str]]]:
        """The values that this session wrote, with times: the latest, and any that may still come back."""
        history: list[tuple[float, dict[str, str]]] = st.session_state.setdefault(
            f"_address_{'_'.join(self.names)}", []
        )
        return history


def choice(name: str) -> Group:
    """The parameter of a choice that Streamlit does not bind (explorer/web/bound.py), on whatever page draws it."""
    _choices().add(name)
    return Group((name,))


SELECTION = Group(tuple(item.name for item in fields(Selection)))
LESSON = Group(("lesson", "at", "done", "present"))
EXPERIMENT, SAMPLE = Group(("experiment",)), Group(("sample",))
BLOCK = Group(("block", "follow", "op"))
LANGUAGE = Group(("lang",))
GROUPS = (SELECTION, LESSON, LANGUAGE, EXPERIMENT, SAMPLE, BLOCK)

_SENTENCE, _HEAD = ("model", "text", "path"), ("kind", "layer", "head")
# The parameters in each page's address, besides those of an open lesson and of widgets bound to a parameter.
PAGES: dict[str, tuple[str, ...]] = {
    "translate": (*_SENTENCE, "step", *_HEAD, "view", "edit"),
    "attention": SELECTION.names,
    "lessons": (*SELECTION.names, *BLOCK.names),
    "positions": _SENTENCE,
    "masks": _SENTENCE,
    "probe": (*_SENTENCE, "step", *_HEAD, "edit", *SAMPLE.names),
    "inside": (*_SENTENCE, "step", *BLOCK.names),
    "train": (),
    "runs": (),
    "experiments": EXPERIMENT.names,
    "own": (),
}


def _on_page(values: Mapping[str, str]) -> dict[str, str]:
    """The values that are not empty and belong in the page's address."""
    return {name: value for name, value in values.items() if value and _belongs_on_page(name)}


def _belongs_on_page(name: str) -> bool:
    return page() not in PAGES or name in PAGES[page()] or name in (*LESSON.names, *LANGUAGE.names, *_choices())
