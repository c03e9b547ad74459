"""Fields for every size and setting of a run, filled with a preset's values; what differs becomes `--set`."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from explorer.runs.settings import (
    ABLATIONS,
    ARCHITECTURE,
    CONSISTENCY,
    FURTHER,
    REGULARISATION,
    SIZES,
    SUBWORDS_ONLY,
    TIME,
    TOKENS,
    TRAINING,
    Changes,
    as_text,
    defaults,
    increment,
    label_of,
)
from explorer.web.training_form import field_key
from model.config import UNTRAINED_TOKENIZERS, DataConfig, ModelConfig, TrainConfig
from model.presets import Preset

_COLUMNS = 4
_MODEL_GROUPS = (("Size", SIZES), ("Against learning by heart", REGULARISATION), ("Construction", ARCHITECTURE))


def size_fields(preset: Preset, scope: str) -> Changes:
    """Sizes and parts of the model; returns what differs from the preset.

    `scope` keeps the fields of different tasks apart.
    """
    shared: dict[str, Any] = {"cls": ModelConfig, "start": preset.model, "scope": scope}
    changes: Changes = ()
    for heading, names in _MODEL_GROUPS:
        st.caption(heading)
        changes += _fields(names, **shared)
    st.caption("Parts of the paper's model that can be removed, to see what they are for:")
    return changes + _fields(ABLATIONS, **shared)


def time_field(preset: Preset, scope: str) -> Changes:
    """How long to train, which stands on the first screen; returns what differs from the preset."""
    return _fields(TIME, cls=TrainConfig, start=preset.training, scope=scope)


def training_fields(preset: Preset, scope: str) -> Changes:
    """How fast to learn, and with what safeguards; returns what differs from the preset."""
    changes: Changes = ()
    for heading, names in TRAINING:
        st.caption(heading)
        changes += _fields(names, cls=TrainConfig, start=preset.training, scope=scope)
    return changes


def further_fields(preset: Preset, scope: str, tokenizer: str) -> Changes:
    """The settings that are rarely changed; returns what differs from the preset."""
    names = (*FURTHER, *SUBWORDS_ONLY) if tokenizer == "subwords" else FURTHER
    changes: Changes = ()
    for group in (CONSISTENCY, names):
        changes += _fields(group, cls=TrainConfig, start=preset.training, scope=scope)
    return changes


def token_fields(data: DataConfig, scope: str, drawn: Changes = ()) -> Changes:
    """How text is split into tokens, but for what is `drawn` already; returns what differs from the task's own."""
    names = [name for name in TOKENS if name not in dict(drawn)]
    return _fields(names, cls=DataConfig, start=dataclasses.asdict(data), scope=scope)


def _fields(names: Sequence[str], *, cls: Any, start: Mapping[str, Any], scope: str) -> Changes:
    hints, default = typing.get_type_hints(cls), defaults(cls)
    helps = {item.name: str(item.metadata.get("help", "")) for item in dataclasses.fields(cls)}
    changes = []
    for at in range(0, len(names), _COLUMNS):
        for column, name in zip(st.columns(min(_COLUMNS, len(names))), names[at : at + _COLUMNS], strict=False):
            before = start.get(name, default[name])
            with column:
                now = _field(name, hints[name], before, f"{helps[name]} ({name})", field_key(scope, name))
            if now != before:
                changes.append((name, as_text(now)))
    return tuple(changes)


def _field(name: str, kind: Any, before: Any, help_text: str, key: str) -> Any:
    label = label_of(name)
    # The start value is passed at every run: an interrupted run creates fields that the browser never sees.
    shared: dict[str, Any] = {"key": key, "persist_state": "session", "help": _escaped(help_text)}
    if typing.get_origin(kind) is typing.Literal:
        options = [option for option in typing.get_args(kind) if option not in UNTRAINED_TOKENIZERS]
        return st.selectbox(label, options, index=options.index(before), **shared)
    if kind is bool:
        return st.toggle(label, value=before, **shared)
    number: Callable[..., Any] = st.number_input
    # Without bounds: the browser marks a number outside them red, but Start would use the one before it.
    if kind is int:
        return int(number(label, value=int(before), step=increment(before), **shared))
    start = float(before)
    return float(number(label, value=start, step=increment(start), format="%g", **shared))


def _escaped(text: str) -> str:
    """Help texts are Markdown; the names of settings hold underscores."""
    return text.replace("_", "\\_").replace("*", "\\*")
