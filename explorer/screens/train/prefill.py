"""Fill the form of the Train page: a task, a preset and changes, as if somebody had chosen them there."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer.screens.train.settings import ON_OPENING, TOKENS, field_key, value_of
from explorer.web.selected_run import NEW, choose_run
from model.config import DataConfig, ModelConfig, TrainConfig

_WAYS = ("train_init", "train_device", "train_precision", "train_compile")


def fill_form(task: str, preset: str, changes: Mapping[str, str]) -> None:
    """From the next run of the Train page on, its form says this; all other fields are the preset's again."""
    scope = f"{task}_{preset}"
    for key in [key for key in st.session_state if str(key).startswith((f"train_{scope}_", f"train_{task}_"))]:
        del st.session_state[key]
    for key in (*_WAYS, "train_name"):
        st.session_state.pop(key, None)
    st.session_state["train_task"] = task
    st.session_state[f"train_preset_{task}"] = preset
    st.session_state["train_more"] = not set(changes) <= ON_OPENING
    hints: dict[str, Any] = {}
    for cls in (ModelConfig, DataConfig, TrainConfig):
        hints |= typing.get_type_hints(cls)
    for name, text in changes.items():
        st.session_state[field_key(task if name in TOKENS else scope, name)] = value_of(hints[name], text)
    choose_run(NEW)
