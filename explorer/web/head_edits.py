"""The changes to heads that one session has in force, with undo, the log of everything tried, and the link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.translation.head_change import Change, Changes, added, describe, from_link, to_link
from explorer.web.address import Parameter
from model.config import ModelConfig

EDIT = Parameter("edit")
MAX_LINK = 4000  # characters
MAX_LOG = 200  # lines
_CHANGES, _UNDO, _LOG, _OF, _PROBLEMS = (f"_surgery_{name}" for name in ("changes", "undo", "log", "of", "problems"))


def adopt(model: str, config: ModelConfig) -> bool:
    """Take over the link's edits, if somebody wrote some there; another model begins without any.

    Returns whether the link had edits that were not known yet.
    """
    state = st.session_state
    asked = EDIT.asked()
    if state.get(_OF) not in (None, model):
        state[_CHANGES], state[_UNDO] = (), []
    state[_OF] = model
    if asked is not None:
        state[_CHANGES], state[_PROBLEMS] = from_link(asked, config)
        state[_UNDO] = []
    write_link()
    return asked is not None


def write_link() -> None:
    """Make the address bar say which changes are in force."""
    link = to_link(changes())
    EDIT.write(link if len(link) <= MAX_LINK else "")


def problems() -> list[str]:
    """Sentences about edits of the last link that made no sense, once."""
    found: list[str] = st.session_state.pop(_PROBLEMS, [])
    return found


def changes() -> Changes:
    """What is in force."""
    found: Changes = st.session_state.get(_CHANGES, ())
    return found


def put(new: Sequence[Change]) -> None:
    """Add changes to those in force."""
    _set(added(changes(), new))


def remove(change: Change) -> None:
    """Take one change back."""
    _set(tuple(other for other in changes() if other != change))


def clear() -> None:
    """Take all changes back."""
    _set(())


def _set(found: Changes) -> None:
    if found != changes():
        st.session_state.setdefault(_UNDO, []).append(changes())
        st.session_state[_CHANGES] = found


def can_undo() -> bool:
    """Whether there is anything to undo."""
    return bool(st.session_state.get(_UNDO))


def undo() -> None:
    """Go back to what was in force before the last change."""
    if can_undo():
        st.session_state[_CHANGES] = st.session_state[_UNDO].pop()


def log() -> list[dict[str, Any]]:
    """Everything tried in this session, oldest first."""
    found: list[dict[str, Any]] = st.session_state.setdefault(_LOG, [])
    return found


def note(model: str, sentence: str, found: Changes, **values: Any) -> None:
    """Write down what was tried and what came of it; the same thing again fills in what was not known before."""
    line = {"model": model, "sentence": sentence, "change": describe(found)}
    for known in log():
        if all(known[name] == value for name, value in line.items()):
            known.update(values)
            return
    log().append(line | values)
    del log()[:-MAX_LOG]
