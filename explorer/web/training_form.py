"""The session keys of the fields in the Train page's form, and how another page fills the form."""

from __future__ import annotations

import time
import typing
from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer.runs.settings import ALWAYS_DRAWN, TOKENS, value_of
from explorer.web.selected_run import NEW, choose_run
from model.config import DataConfig, ModelConfig, TrainConfig

_FILLED = "train_filled_from"
_MADE, _FILLED_AT = "train_made_", "_train_filled_at"
_MORE_SETTINGS = ("train_init", "train_device", "train_precision", "train_threads", "train_compile")


def field_key(scope: str, name: str) -> str:
    """The session key of a setting's field."""
    return f"train_{scope}_{name}"


def made_key(name: str) -> str:
    """The session key of the tick at a file of made pairs."""
    return f"{_MADE}{name}"


def ticked_at_first(made: float) -> bool:
    """Whether a file of pairs made then (seconds since 1970) is ticked before anybody has chosen.

    It is not where the form was filled later: that run is to be as the one that it was filled from.
    """
    return made > float(st.session_state.get(_FILLED_AT, 0.0))


def fill_form(
    task: str,
    preset: str,
    changes: Mapping[str, str],
    *,
    device: str = "auto",
    precision: str = "auto",
    threads: int = 0,
    source: str = "",
) -> None:
    """Fill the form with a task, a preset and changes, as if chosen there; all other fields are reset to the preset.

    `source` says what it was filled from, which the form tells until a run is started or another task chosen.
    """
    scope = f"{task}_{preset}"
    for key in [key for key in st.session_state if str(key).startswith((f"train_{scope}_", f"train_{task}_", _MADE))]:
        del st.session_state[key]
    for key in (*_MORE_SETTINGS, "train_name"):
        st.session_state.pop(key, None)
    st.session_state[_FILLED_AT] = time.time()
    st.session_state["train_task"] = task
    st.session_state[f"train_preset_{task}"] = preset
    computed = {"train_device": device, "train_precision": precision, "train_threads": threads}
    given = {key: value for key, value in computed.items() if value not in ("auto", 0)}
    for key, value in given.items():
        st.session_state[key] = value
    st.session_state["train_more"] = bool(given) or not set(changes) <= ALWAYS_DRAWN
    hints: dict[str, Any] = {}
    for cls in (ModelConfig, DataConfig, TrainConfig):
        hints |= typing.get_type_hints(cls)
    for name, text in changes.items():
        st.session_state[field_key(task if name in TOKENS else scope, name)] = value_of(hints[name], text)
    choose_run(NEW)
    st.session_state[_FILLED] = (task, source)


def filled_from(task: str) -> str:
    """What another page has filled the form for this task from; empty if none has."""
    known, source = st.session_state.get(_FILLED, ("", ""))
    return str(source) if known == task else ""


def forget_filling() -> None:
    """Say no longer that the form was filled: a run was started."""
    st.session_state.pop(_FILLED, None)
