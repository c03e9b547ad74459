"""Sizes and settings of a run as values: how the form groups and labels them, and what differs from a preset.

What differs is a tuple of pairs (setting, text after `--set`).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from model.config import ConfigError, DataConfig, ModelConfig, TrainConfig, from_dict
from model.presets import Preset

Changes = tuple[tuple[str, str], ...]

SIZES = ("d_model", "d_ff", "n_encoder_layers", "n_decoder_layers", "n_encoder_heads", "n_decoder_heads")
REGULARISATION = ("dropout", "attention_dropout", "activation_dropout", "max_positions")
ARCHITECTURE = ("norm_first", "positions", "activation", "share_embeddings", "layer_norm")
ABLATIONS = ("causal", "scale_scores", "scale_embeddings", "residual", "embedding_factor")
TIME = ("max_steps",)
LENGTH = ("max_tokens", "gradient_accumulation_steps", "eval_every")
LEARNING_RATE = ("learning_rate", "schedule", "warmup_steps", "optimizer")
STABILITY = ("label_smoothing", "clip_norm", "weight_decay", "seed")
SELECTION = ("select_by", "patience", "average_checkpoints", "snapshots")
FURTHER = ("beta1", "beta2", "epsilon", "log_every", "save_every", "eval_sentences", "snapshot_megabytes")
CONSISTENCY = ("consistency", "consistency_weight", "cutoff")
SUBWORDS_ONLY = ("bpe_dropout",)  # has no meaning for other tokenizers
TOKENS = ("tokenizer", "lowercase", "min_frequency", "vocab_size")
# What is changed most often comes first; each group has a heading.
TRAINING = (
    ("Learning rate", LEARNING_RATE),
    ("Batches and evaluations", LENGTH),
    ("Stability and chance", STABILITY),
    ("Which weights are kept", SELECTION),
)
# The fields that are drawn without "More settings".
ALWAYS_DRAWN = frozenset(
    name
    for group in (SIZES, REGULARISATION, ARCHITECTURE, ABLATIONS, TIME, *(names for _, names in TRAINING))
    for name in group
)

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
    "max_tokens": "Tokens per batch",
    "gradient_accumulation_steps": "Batches per update",
    "eval_every": "Updates between evaluations",
    "learning_rate": "Highest learning rate",
    "warmup_steps": "Warm-up updates",
    "clip_norm": "Gradient norm limit",
    "select_by": "Best weights by",
    "average_checkpoints": "Average last checkpoints",
    "src_lang": "Source language",
    "tgt_lang": "Target language",
    "min_frequency": "Rarer words are unknown",
    "vocab_size": "Subword pieces",
    "log_every": "Updates between log lines",
    "save_every": "Updates between saves",
    "eval_sentences": "Sentences decoded",
    "snapshot_megabytes": "Space for snapshots (MB)",
    "bpe_dropout": "BPE-dropout",
    "consistency": "Consistency of two passes",
    "consistency_weight": "Consistency weight α",
    "cutoff": "Token cutoff",
}


def label_of(name: str) -> str:
    """The label of a setting's field."""
    return _LABELS.get(name) or name.removeprefix("n_").replace("_", " ").capitalize()


def problem(preset: Preset, changes: Changes) -> str:
    """Why these sizes and settings do not go together; empty if they do."""
    given = dict(changes)
    try:
        from_dict(ModelConfig, {**preset.model, **_belonging_to(ModelConfig, given)})
        from_dict(TrainConfig, {**preset.training, **_belonging_to(TrainConfig, given)})
        from_dict(DataConfig, _belonging_to(DataConfig, given))
    except ConfigError as error:
        return str(error)
    return ""


def refusal(name: str, value: Any) -> str:
    """Why a setting of the training cannot have this value; empty if it can."""
    try:
        from_dict(TrainConfig, {name: value})
    except ConfigError as error:
        return str(error)
    return ""


def _belonging_to(cls: Any, given: Mapping[str, str]) -> dict[str, Any]:
    """The changes of one configuration class, as values."""
    hints = typing.get_type_hints(cls)
    return {name: value_of(hints[name], text) for name, text in given.items() if name in hints}


def setting(preset: Preset, changes: Changes, name: str) -> Any:
    """The value of one training setting once the changes are applied."""
    given = dict(changes)
    if name in given:
        return value_of(typing.get_type_hints(TrainConfig)[name], given[name])
    return preset.training.get(name, defaults(TrainConfig)[name])


def as_text(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def value_of(kind: Any, text: str) -> Any:
    """A value of this type from the text that `--set` takes."""
    if kind is bool:
        return text == "true"
    return kind(text) if kind in (int, float) else text


def increment(value: float) -> float:
    """How far one press of + or − moves a number, given where it starts; whole for whole numbers."""
    if isinstance(value, int):
        return max(1, 10 ** (len(str(value)) - 2)) if value >= 100 else 1
    return 0.05 if value == 0 or value >= 0.1 else float(f"{value / 2:.1g}")


def defaults(cls: Any) -> dict[str, Any]:
    """The default of every field of a configuration class."""
    return {item.name: item.default for item in dataclasses.fields(cls)}
