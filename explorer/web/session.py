"""The selection of one session, synchronised between widgets, the address bar and the views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import streamlit as st

from explorer.decoding.other_paths import OtherPath
from explorer.decoding.selection import Selection, from_query, to_query
from explorer.decoding.view_options import parse_view
from explorer.locale import scripts
from explorer.locale.messages import t
from explorer.web import address
from explorer.web.streamlit_private import in_page_run
from model.config import DecodeConfig

MODEL, TEXT = "model", "text"  # keys of the shared widgets, and names of their URL parameters
_SELECTION, _OF, _FORKS, _PROBLEMS = "_session_selection", "_of", "_forks", "_problems"
_SUGGESTED, _EDIT_ASKED = "_suggested", "_edit_asked"


def adopt_address() -> None:
    """Apply what a link or the user requests in the address bar; call it before any widget is drawn."""
    st.session_state.setdefault(_SELECTION, Selection())
    asked = address.SELECTION.asked()
    if not asked:
        return
    selection, problems = from_query(asked)
    if selection.path is not None and TEXT not in asked:
        problems.append(t("The link has a path but no sentence for it; the model's own choice is shown."))
        selection = replace(selection, path=None)
    st.session_state[_PROBLEMS] = problems
    st.session_state[_EDIT_ASKED] = "edit" in asked
    requested = {name: getattr(selection, name) for name in asked}
    if {MODEL, TEXT} & requested.keys():  # another sentence: the path, step and head of the old one no longer apply
        _start_afresh(selection)
    else:
        st.session_state[_SELECTION] = replace(st.session_state[_SELECTION], **requested)
    for name in (MODEL, TEXT):
        if name in requested:
            st.session_state[name] = requested[name]


def open_selection(selection: Selection, problems: Sequence[str] = ()) -> None:
    """Go to a complete selection from a source other than the address; only from a callback, before widgets are drawn.

    `problems` are messages to show about it, as for a link.
    """
    st.session_state[_PROBLEMS] = list(problems)
    _start_afresh(selection)
    st.session_state[MODEL], st.session_state[TEXT] = selection.model, selection.text


def _start_afresh(selection: Selection) -> None:
    """Adopt a selection of another model or sentence; these two are held by the shared widgets."""
    st.session_state[_SELECTION] = replace(selection, model="", text="")
    st.session_state[_FORKS] = []
    st.session_state.pop(_OF, None)


def edit_asked() -> bool:
    """Whether the last link that was followed contained head edits; reported once."""
    return bool(st.session_state.pop(_EDIT_ASKED, False))


def problems() -> list[str]:
    """Messages about parts of the last link that could not be used; each is returned once."""
    messages: list[str] = st.session_state.get(_PROBLEMS, [])
    st.session_state[_PROBLEMS] = []
    return messages


def add_problems(messages: Sequence[str]) -> None:
    """Add messages about parts of the last link that could not be used."""
    st.session_state[_PROBLEMS] = [*st.session_state.get(_PROBLEMS, []), *messages]


def forget_selection() -> None:
    """Drop the path, step and head of a link: they belong to another model."""
    st.session_state[_SELECTION] = Selection()


def settle(model: str, text: str) -> Selection:
    """The selection, with the model and sentence from the shared widgets; a different pair starts afresh."""
    current = selection()
    before = st.session_state.get(_OF)
    if before is not None and before != (model, text):
        current = replace(current, path=None, step=0, cell=None)
        if before[0] != model:  # a head stays valid for the same model; a step or path does not
            current = replace(current, layer=0, head=0, edit=())
        st.session_state[_FORKS] = []
    st.session_state[_OF] = (model, text)
    st.session_state[_SELECTION] = current
    return replace(current, model=model, text=text)


def _direction() -> str:
    """The direction of words that the session whose page is drawn has chosen, if any."""
    current = st.session_state.get(_SELECTION) if in_page_run() else None
    return parse_view(current.view).direction if current else ""


scripts.ask(_direction)


def selection() -> Selection:
    """The session's selection, without model and sentence, which the shared widgets hold."""
    current: Selection = st.session_state[_SELECTION]
    return current


def move(**changes: Any) -> None:
    """Change parts of the selection, such as path, step, kind, layer or head."""
    st.session_state[_SELECTION] = replace(st.session_state[_SELECTION], **changes)


def forks() -> list[OtherPath]:
    """The forks made so far for this model and sentence, oldest first."""
    forks: list[OtherPath] = st.session_state.setdefault(_FORKS, [])
    return forks


def add_fork(fork: OtherPath) -> None:
    """Add a fork; each path is stored once."""
    st.session_state[_FORKS] = [other for other in forks() if other.path != fork.path] + [fork]


def write_address(selection: Selection) -> None:
    """Write the parts of the selection that belong in this page's address, leaving other parameters alone."""
    address.SELECTION.write(to_query(selection))


def decode_config() -> DecodeConfig:
    """The settings of decoding, as set in the sidebar or on the page."""
    values = {item.name: st.session_state.get(f"decode_{item.name}", item.default) for item in fields(DecodeConfig)}
    return DecodeConfig(**values)


def suggest_text(model: str, example: str) -> None:
    """Put `example` into the sentence field, unless the user has typed a sentence.

    An example for the previous model means little to another one; text that the user typed is not replaced.
    """
    suggested = st.session_state.get(_SUGGESTED)
    text = st.session_state.get(TEXT)
    if text is None or (suggested is not None and suggested[1] == text and suggested[0] != model):
        st.session_state[TEXT] = example
        st.session_state[_SUGGESTED] = (model, example)


def choose_example(example: str) -> None:
    """Put an example that the user picked into the sentence field."""
    st.session_state[TEXT] = example
    st.session_state[_SUGGESTED] = (st.session_state.get(MODEL), example)
