"""Fields for every size and setting of a run, filled with a preset's values; what differs becomes `--set`."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from model.config import ConfigError, DataConfig, ModelConfig, TrainConfig, from_dict
from model.presets import Preset

Changes = tuple[tuple[str, str], ...]

_COLUMNS = 4
_SIZES = ("d_model", "d_ff", "n_encoder_layers", "n_decoder_layers", "n_encoder_heads", "n_decoder_heads")
_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")
_SHAPE = ("norm_first", "positions", "activation", "share_embeddings", "layer_norm", "max_positions")
_PARTS = ("causal", "scale_scores", "scale_embeddings", "residual", "embedding_factor")
_LENGTH = ("max_steps", "batch_tokens", "accumulate", "eval_every")
_RATE = ("learning_rate", "schedule", "warmup_steps", "optimizer")
_CARE = ("label_smoothing", "clip_norm", "weight_decay", "seed")
_KEEP = ("select_by", "patience", "average", "snapshots")
_REST = ("beta1", "beta2", "epsilon", "log_every", "save_every", "eval_sentences", "snapshot_megabytes")
_SUBWORDS = ("bpe_dropout",)  # means nothing to other tokenizers
TOKENS = ("tokenizer", "lowercase", "min_frequency", "vocab_size")
# What stands on the form without "More settings"; the seed and its like are behind a fold, but always drawn.
ON_OPENING = frozenset((*_SIZES, *_DROPOUTS, *_SHAPE, *_PARTS, *_LENGTH, *_RATE, *_CARE, *_KEEP))

_LABELS = {
    "d_model": "Width (d_model)",
    "d_ff": "Feed-forward width (d_ff)",
    "norm_first": "Norm before each part (pre-norm)",
    "share_embeddings": "Shared embeddings",
    "layer_norm": "Layer norm",
    "max_positions": "Longest sentence (tokens)",
    "causal": "Mask the future",
    "scale_scores": "Divide scores by √d_head",
    "scale_embeddings": "Multiply embeddings by √d_model",
    "residual": "Residual connections",
    "embedding_factor": "Another factor for embeddings",
    "max_steps": "Updates (steps)",
    "batch_tokens": "Tokens in a batch",
    "accumulate": "Batches per update",
    "eval_every": "Updates between evaluations",
    "learning_rate": "Highest learning rate",
    "warmup_steps": "Warm-up updates",
    "clip_norm": "Gradient norm limit",
    "select_by": "Best weights by",
    "average": "Average last weights",
    "min_frequency": "Rarer words are unknown",
    "vocab_size": "Subword pieces",
    "log_every": "Updates between log lines",
    "save_every": "Updates between saves",
    "eval_sentences": "Sentences decoded",
    "snapshot_megabytes": "Space for snapshots (MB)",
    "bpe_dropout": "BPE-dropout",
}


def size_fields(preset: Preset, scope: str) -> Changes:
    """Sizes and parts of the model; returns what differs from the preset.

    `scope` keeps the fields of different tasks apart.
    """
    shared: dict[str, Any] = {"cls": ModelConfig, "start": preset.model, "scope": scope}
    changes: Changes = _fields(_SIZES, **shared)
    changes += _fields((*_DROPOUTS, "max_positions"), **shared)
    changes += _fields(_SHAPE[:-1], **shared)
    st.caption("Parts of the paper's model that can be left out, to see what they are for:")
    return changes + _fields(_PARTS, **shared)


def training_fields(preset: Preset, scope: str) -> Changes:
    """How long, how fast and how carefully to train; returns what differs from the preset."""
    shared: dict[str, Any] = {"cls": TrainConfig, "start": preset.training, "scope": scope}
    changes: Changes = ()
    for names in (_LENGTH, _RATE, _CARE, _KEEP):
        changes += _fields(names, **shared)
    return changes


def further_fields(preset: Preset, scope: str, tokenizer: str) -> Changes:
    """The rest, which hardly anybody needs; returns what differs from the preset."""
    names = (*_REST, *_SUBWORDS) if tokenizer == "subwords" else _REST
    return _fields(names, cls=TrainConfig, start=preset.training, scope=scope)


def token_fields(data: DataConfig, scope: str) -> Changes:
    """How text is cut into tokens; returns what differs from the task's own way."""
    return _fields(TOKENS, cls=DataConfig, start=dataclasses.asdict(data), scope=scope)


def problem(preset: Preset, changes: Changes) -> str:
    """Why these sizes and settings do not go together; empty if they do."""
    given = dict(changes)
    try:
        from_dict(ModelConfig, {**preset.model, **_own(ModelConfig, given)})
        from_dict(TrainConfig, {**preset.training, **_own(TrainConfig, given)})
    except ConfigError as error:
        return str(error)
    return ""


def _own(cls: Any, given: Mapping[str, str]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {name: value_of(hints[name], text) for name, text in given.items() if name in hints}


def setting(preset: Preset, changes: Changes, name: str) -> Any:
    """The value of one training setting as it will be."""
    given = dict(changes)
    if name in given:
        return value_of(typing.get_type_hints(TrainConfig)[name], given[name])
    return preset.training.get(name, _defaults(TrainConfig)[name])


def _fields(names: Sequence[str], *, cls: Any, start: Mapping[str, Any], scope: str) -> Changes:
    hints, defaults = typing.get_type_hints(cls), _defaults(cls)
    helps = {item.name: str(item.metadata.get("help", "")) for item in dataclasses.fields(cls)}
    changes = []
    for at in range(0, len(names), _COLUMNS):
        for column, name in zip(st.columns(_COLUMNS), names[at : at + _COLUMNS], strict=False):
            before = start.get(name, defaults[name])
            with column:
                now = _field(name, hints[name], before, f"{helps[name]} ({name})", field_key(scope, name))
            if now != before:
                changes.append((name, _text(now)))
    return tuple(changes)


def field_key(scope: str, name: str) -> str:
    """The key of a setting's field."""
    return f"train_{scope}_{name}"


def _field(name: str, kind: Any, before: Any, help_text: str, key: str) -> Any:
    label = _LABELS.get(name) or name.removeprefix("n_").replace("_", " ").capitalize()
    # The start value goes along each time: a run that is cut short makes fields that the browser never sees.
    shared: dict[str, Any] = {"key": key, "persist_state": "session", "help": _plain_help(help_text)}
    if typing.get_origin(kind) is typing.Literal:
        options = list(typing.get_args(kind))
        return st.selectbox(label, options, index=options.index(before), **shared)
    if kind is bool:
        return st.toggle(label, value=before, **shared)
    number: Callable[..., Any] = st.number_input
    if kind is int:
        return int(number(label, value=int(before), min_value=0, step=_step(before), **shared))
    start = float(before)
    return float(number(label, value=start, min_value=0.0, step=_step(start), format="%g", **shared))


def _plain_help(text: str) -> str:
    return text.replace("_", "\\_").replace("*", "\\*")


def _step(value: float) -> Any:
    """How far one press of + goes."""
    if isinstance(value, int):
        return max(1, 10 ** (len(str(value)) - 2)) if value >= 100 else 1
    return 0.05 if value == 0 or value >= 0.1 else float(f"{value / 2:.1g}")


def _text(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def value_of(kind: Any, text: str) -> Any:
    """A value of this type from the text that `--set` takes."""
    if kind is bool:
        return text == "true"
    return kind(text) if kind in (int, float) else text


def _defaults(cls: Any) -> dict[str, Any]:
    return {item.name: item.default for item in dataclasses.fields(cls)}
