"""One person's selection through their session: widgets, address bar and what the stepper reports, kept in step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st

from explorer.translation.selection import Selection, from_query, to_query
from explorer.web.address import Parameters
from model.config import DecodeConfig

MODEL, TEXT = "model", "text"  # keys of the shared widgets, and names of their URL parameters
_PLACE, _OF, _FORKS, _PROBLEMS = "_place", "_of", "_forks", "_problems"
_SUGGESTED, _EDIT_ASKED = "_suggested", "_edit_asked"
_ADDRESS = Parameters(tuple(item.name for item in fields(Selection)))


@dataclass(frozen=True)
class Fork:
    """A path that was chosen by hand: at row `step` (from 1) `chosen` in place of `instead`."""

    path: tuple[int, ...]
    step: int
    chosen: str
    instead: str
    probability: float
    text: str


def adopt_address() -> None:
    """Take over what the address bar asks for, if somebody wrote it there; call it before any widget is drawn."""
    st.session_state.setdefault(_PLACE, Selection())
    asked = _ADDRESS.asked()
    if asked is None:
        return
    selection, problems = from_query(asked)
    if selection.path is not None and TEXT not in asked:
        problems.append("The link has a path but no sentence for it; the model's own choice is shown.")
        selection = replace(selection, path=None)
    st.session_state[_PROBLEMS] = problems
    st.session_state[_EDIT_ASKED] = "edit" in asked
    given = {name: getattr(selection, name) for name in asked}
    if {MODEL, TEXT} & given.keys():  # another sentence: nothing of the old place holds
        st.session_state[_PLACE] = replace(selection, model="", text="")
        st.session_state[_FORKS] = []
        st.session_state.pop(_OF, None)
    else:
        st.session_state[_PLACE] = replace(st.session_state[_PLACE], **given)
    for name in (MODEL, TEXT):
        if name in given:
            st.session_state[name] = given[name]


def open_selection(selection: Selection, said: Sequence[str] = ()) -> None:
    """Go to a whole selection that came otherwise than by the address; only from a callback, before widgets are drawn.

    `said` are sentences to show about it, as about a link.
    """
    st.session_state[_PROBLEMS] = list(said)
    st.session_state[_PLACE] = replace(selection, model="", text="")
    st.session_state[_FORKS] = []
    st.session_state.pop(_OF, None)
    st.session_state[MODEL], st.session_state[TEXT] = selection.model, selection.text


def edit_asked() -> bool:
    """Whether the last link that was followed had edits of heads, once."""
    return bool(st.session_state.pop(_EDIT_ASKED, False))


def problems() -> list[str]:
    """Sentences about the last link that did not make sense, once."""
    found: list[str] = st.session_state.get(_PROBLEMS, [])
    st.session_state[_PROBLEMS] = []
    return found


def forget_place() -> None:
    """Drop path, step and head of a link: they were another model's."""
    st.session_state[_PLACE] = Selection()


def settle(model: str, text: str) -> Selection:
    """The selection, now that the shared widgets have said which model and sentence; another pair starts afresh."""
    place: Selection = st.session_state[_PLACE]
    before = st.session_state.get(_OF)
    if before is not None and before != (model, text):
        kept_head = before[0] == model  # the same head of the same model is worth keeping; a step or path is not
        place = replace(place, path=None, step=0, cell=None)
        if not kept_head:
            place = replace(place, layer=0, head=0, edit=())
        st.session_state[_FORKS] = []
    st.session_state[_OF] = (model, text)
    st.session_state[_PLACE] = place
    return replace(place, model=model, text=text)


def place() -> Selection:
    """Where this session is now; model and sentence are the sidebar's."""
    found: Selection = st.session_state[_PLACE]
    return found


def move(**changes: Any) -> None:
    """Go to another path, step, kind, layer or head."""
    st.session_state[_PLACE] = replace(st.session_state[_PLACE], **changes)


def forks() -> list[Fork]:
    """The forks made so far in this model and sentence, oldest first."""
    found: list[Fork] = st.session_state.setdefault(_FORKS, [])
    return found


def add_fork(fork: Fork) -> None:
    """Remember a fork; the same path is kept once."""
    st.session_state[_FORKS] = [known for known in forks() if known.path != fork.path] + [fork]


def write_address(selection: Selection) -> None:
    """Make the address bar say what is on screen, leaving other parameters alone."""
    _ADDRESS.write(to_query(selection))


def decode_config() -> DecodeConfig:
    """How the next token is chosen, as the sidebar says."""
    values = {item.name: st.session_state.get(f"decode_{item.name}", item.default) for item in fields(DecodeConfig)}
    return DecodeConfig(**values)


def suggest_text(model: str, example: str) -> None:
    """Put `example` into the sentence field, unless the person typed something of their own.

    An example of the last model says little to another one; what a person typed stays theirs.
    """
    suggested = st.session_state.get(_SUGGESTED)
    text = st.session_state.get(TEXT)
    if text is None or (suggested is not None and suggested[1] == text and suggested[0] != model):
        st.session_state[TEXT] = example
        st.session_state[_SUGGESTED] = (model, example)


def choose_example(example: str) -> None:
    """Put an example that the person picked into the sentence field."""
    st.session_state[TEXT] = example
    st.session_state[_SUGGESTED] = (st.session_state.get(MODEL), example)
