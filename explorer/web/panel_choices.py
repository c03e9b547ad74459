"""What a person chose in a panel of the Attention page, kept where its widgets, the address and a manifest find it.

A panel stands in the address with those of its choices that are not the default, "compare.way-edit.layer-2"; a sentence
or a name that goes with them, which may be any text, is the address's `other`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.web import session

# What the address was last told; each panel's choices when it was left; what was typed last, by the key of its field.
_SAID, _LAST, _TYPED = "_panel_said", "_panel_last", "_panel_typed"
_YES_NO = {True: "yes", False: "no"}


def name_of(panel: str) -> str:
    """The panel itself, without its choices."""
    return panel.partition(".")[0]


def open_panel(name: str) -> None:
    """Go to another panel, with the choices that it was left with; "" closes it. The open one is left as it is."""
    place = session.place()
    before = name_of(place.panel)
    if name == before:
        return
    last: dict[str, tuple[str, str]] = st.session_state.setdefault(_LAST, {})
    last[before] = place.panel, place.other
    panel, other = last.get(name, (name, ""))
    session.move(panel=panel, other=other)


class Choices:
    """The choices of one panel: `start…` before each widget is drawn, `keep` when they are.

    A link or a manifest is followed once; after that the widgets know best.
    """

    def __init__(self, name: str) -> None:
        place = session.place()
        self.name = name
        mine = name_of(place.panel) == name
        self.news = mine and (place.panel, place.other) != st.session_state.get(_SAID)
        given = place.panel.split(".")[1:] if mine else []
        self._asked = {option: value for option, _, value in (part.partition("-") for part in given)}
        self._other = place.other if mine else ""
        self._kept: dict[str, tuple[str, Any]] = {}
        self._typed = ""

    def asked(self, option: str) -> str:
        """What the address says under this option; empty where it says nothing."""
        return self._asked.get(option, "")

    def start(self, key: str, option: str, known: Sequence[Any], default: Any) -> None:
        """Give the widget `key` the value of `known` that the address names under `option`, else its default."""
        self._kept[option] = key, default
        if self._takes(key) or st.session_state[key] not in known:
            asked = self._asked.get(option)
            st.session_state[key] = next((value for value in known if _text(value) == asked), default)

    def start_text(self, key: str, *, given: bool = True) -> None:
        """Give a text field the address's other text if it is for this one (`given`), else what was typed last."""
        self._typed = key
        if self._takes(key):
            st.session_state[key] = self._other if given else st.session_state.get(_TYPED, {}).get(key, "")

    def start_name(self, key: str, known: Sequence[str]) -> None:
        """Give a widget that offers names the one that is the address's other text, else the first."""
        if self._takes(key) or st.session_state[key] not in known:
            st.session_state[key] = self._other if self._other in known else known[0]

    def keep(self, other: str = "") -> None:
        """Put into the address what the widgets say now; `other` is the text that goes with it."""
        told = [self.name]
        for option, (key, default) in self._kept.items():
            if (value := st.session_state.get(key, default)) != default:
                told.append(f"{option}-{_text(value)}")
        panel = ".".join(told)
        if self._typed:
            st.session_state.setdefault(_TYPED, {})[self._typed] = other
        session.move(panel=panel, other=other)
        st.session_state[_SAID] = panel, other

    def _takes(self, key: str) -> bool:
        return self.news or key not in st.session_state


def _text(value: Any) -> str:
    return _YES_NO[value] if isinstance(value, bool) else str(value)
