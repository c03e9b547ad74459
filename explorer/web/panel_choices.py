"""The user's choices in a panel of the Attention page, shared by its widgets, the address and a manifest.

The address names a panel and its choices that are not the default, as in "compare.way-edit.layer-2". Free text that
belongs to them, such as a sentence, is the address's `other`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.web import session

_OWN = "_panel_written"  # in the session: the panel and the other text, as the widgets put them into the selection
# Each panel's choices when it was left; the text typed last, by its field's key.
_LAST, _TYPED = "_panel_last", "_panel_typed"
OPENED_VIEW = "_attention_led"  # set by a callback that opened another view: a callback cannot run the page itself
ARRIVAL = "_attention_arrival"  # how often a click has opened a panel, and whether the latest takes the focus
_YES_NO = {True: "yes", False: "no"}


def arrive_at_panel(*, focus: bool = False) -> None:
    """Scroll to the open panel in this run."""
    turn, _ = st.session_state.get(ARRIVAL, (0, False))
    st.session_state[ARRIVAL] = turn + 1, focus


def name_of(panel: str) -> str:
    """The panel's name, without its choices."""
    return panel.partition(".")[0]


def open_panel(name: str) -> None:
    """Switch to a panel with the choices it was left with; "" closes the open one. The open panel stays as it is."""
    selection = session.selection()
    before = name_of(selection.panel)
    if name == before:
        return
    last: dict[str, tuple[str, str]] = st.session_state.setdefault(_LAST, {})
    last[before] = selection.panel, selection.other
    panel, other = last.get(name, (name, ""))
    session.move(panel=panel, other=other)


class Choices:
    """The choices of one panel: call `start…` before each widget is drawn, and `keep` after all of them.

    A link or a manifest is applied once; after that, the widgets' values count.
    """

    def __init__(self, name: str) -> None:
        selection = session.selection()
        self.name = name
        mine = name_of(selection.panel) == name
        self.is_new = mine and st.session_state.get(_OWN) != (selection.panel, selection.other)
        parts = selection.panel.split(".")[1:] if mine else []
        self._asked = {option: value for option, _, value in (part.partition("-") for part in parts)}
        self._other = selection.other if mine else ""
        self._widgets: dict[str, tuple[str, Any]] = {}  # key and default by option
        self._typed = ""

    def asked(self, option: str) -> str:
        """The address's value for this option; empty if it has none."""
        return self._asked.get(option, "")

    def start(self, key: str, option: str, values: Sequence[Any], default: Any) -> None:
        """Set the widget `key` to the one of its `values` that the address gives for `option`, else to its default."""
        self._widgets[option] = key, default
        if self._takes(key) or st.session_state[key] not in values:
            asked = self._asked.get(option)
            st.session_state[key] = next((value for value in values if _text(value) == asked), default)

    def start_text(self, key: str, *, given: bool = True) -> None:
        """Set a text field to the address's other text if that belongs to it (`given`), else to what was last typed."""
        self._typed = key
        if self._takes(key):
            st.session_state[key] = self._other if given else st.session_state.get(_TYPED, {}).get(key, "")

    def start_name(self, key: str, names: Sequence[str]) -> None:
        """Set a widget that offers names to the address's other text if it is one of them, else to the first name."""
        if self._takes(key) or st.session_state[key] not in names:
            st.session_state[key] = self._other if self._other in names else names[0]

    def keep(self, other: str = "") -> None:
        """Write the widgets' current values to the address; `other` is the text that belongs to them."""
        parts = [self.name]
        for option, (key, default) in self._widgets.items():
            if (value := st.session_state.get(key, default)) != default:
                parts.append(f"{option}-{_text(value)}")
        panel = ".".join(parts)
        if self._typed:
            st.session_state.setdefault(_TYPED, {})[self._typed] = other
        session.move(panel=panel, other=other)
        st.session_state[_OWN] = panel, other

    def _takes(self, key: str) -> bool:
        return self.is_new or key not in st.session_state


def _text(value: Any) -> str:
    return _YES_NO[value] if isinstance(value, bool) else str(value)
