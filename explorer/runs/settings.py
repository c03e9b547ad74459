"""Sizes and settings of a run: how the form groups and labels them, and how they differ from a preset.

Differences are a tuple of pairs (setting, text after `--set`).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from typing import Any

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import message, t, translated
from model.config import ConfigError, DataConfig, ModelConfig, TrainConfig, from_dict
from model.presets import Preset

Changes = tuple[tuple[str, str], ...]

_CLASSES: tuple[Any, ...] = (ModelConfig, DataConfig, TrainConfig)
_FIELDS = {item.name: item for cls in _CLASSES for item in dataclasses.fields(cls)}  # no name occurs twice
KINDS: dict[str, Any] = {name: kind for cls in _CLASSES for name, kind in typing.get_type_hints(cls).items()}
DEFAULTS = {name: item.default for name, item in _FIELDS.items()}
HELP = {name: str(item.metadata.get("help", "")) for name, item in _FIELDS.items()}

# The twelve that matter most; with the number of updates, they are drawn without another click.
MODEL = (
    *("d_model", "d_ff", "n_encoder_layers", "n_decoder_layers"),
    *("n_encoder_heads", "n_decoder_heads", "dropout", "positions"),
)
MAIN = ("learning_rate", "warmup_steps", "max_tokens", "eval_every")
REGULARISATION = ("attention_dropout", "activation_dropout", "max_positions")
ARCHITECTURE = ("norm_first", "activation", "share_embeddings", "layer_norm")
ABLATIONS = ("causal", "scale_scores", "scale_embeddings", "residual", "embedding_factor")
LEARNING_RATE = ("schedule", "optimizer", "gradient_accumulation_steps")
STABILITY = ("label_smoothing", "clip_norm", "weight_decay", "seed")
SELECTION = ("select_by", "patience", "stop_when_right", "average_checkpoints", "snapshots")
FURTHER = ("beta1", "beta2", "epsilon", "log_every", "save_every", "eval_sentences", "snapshot_megabytes")
CONSISTENCY = ("consistency", "consistency_weight", "cutoff")
SUBWORDS_ONLY = ("bpe_dropout",)  # no effect with other tokenizers
TOKENS = ("tokenizer", "lowercase", "min_frequency", "vocab_size")
# Each group has a heading; the most used come first.
TRAINING = (
    (message("Learning rate and batches"), LEARNING_RATE),
    (message("Stability and chance"), STABILITY),
    (message("Which weights are kept"), SELECTION),
)

_MODEL = {item.name for item in dataclasses.fields(ModelConfig)}
# Of the settings of a model, those that an architecture other than the Transformer of both stacks reads.
_READ_BY = {
    "lstm": {
        *("architecture", "d_model", "n_encoder_layers", "n_decoder_layers"),
        *("dropout", "scale_scores", "share_embeddings"),
    },
    "decoder": _MODEL - {"n_encoder_layers", "n_encoder_heads"},
}
_LABELS = {
    "d_model": message("Width (d_model)"),
    "d_ff": message("Feed-forward width (d_ff)"),
    "norm_first": message("Pre-norm"),
    "share_embeddings": message("Shared embeddings"),
    "layer_norm": message("Layer norm"),
    "max_positions": message("Longest sentence (tokens)"),
    "causal": message("Mask the future"),
    "scale_scores": message("Scaled scores (÷√d)"),
    "scale_embeddings": message("Scaled inputs (×√d)"),
    "residual": message("Residual connections"),
    "embedding_factor": message("Embedding factor"),
    "max_steps": message("Updates (steps)"),
    "max_tokens": message("Tokens per batch"),
    "gradient_accumulation_steps": message("Batches per update"),
    "eval_every": message("Updates per evaluation"),
    "learning_rate": message("Highest learning rate"),
    "warmup_steps": message("Warm-up updates"),
    "clip_norm": message("Gradient norm limit"),
    "select_by": message("Best weights by"),
    "stop_when_right": message("Stop after perfect evaluations"),
    "average_checkpoints": message("Average last checkpoints"),
    "src_lang": message("Source language"),
    "tgt_lang": message("Target language"),
    "min_frequency": message("Rarer words are unknown"),
    "vocab_size": message("Subword pieces"),
    "log_every": message("Updates between log lines"),
    "save_every": message("Updates between saves"),
    "eval_sentences": message("Sentences decoded"),
    "snapshots": message("Snapshots (at most)"),
    "snapshot_megabytes": message("Space for snapshots (MB)"),
    "bpe_dropout": message("BPE-dropout"),
    "consistency": message("Consistency of two passes"),
    "consistency_weight": message("Consistency weight α"),
    "cutoff": message("Token cutoff"),
    "own_pairs": message("Own pairs"),
    "starts_from": message("Starts from"),
    "first_part": message("First part"),
    "further_pairs": message("Further pairs"),
    "trained_longer": message("Trained longer"),
}
_NAMES = {
    "transformer": "Transformer",
    "lstm": "LSTM",
    "relu": "ReLU",
    "gelu": "GELU",
    "gelu_tanh": "GELU (tanh)",
    "silu": "SiLU",
    "rms": "RMS",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "sentencepiece": "SentencePiece",
    "bytelevel": "Byte-level",
    "adam": "Adam",
    "adamw": "AdamW",
    "inverse_sqrt": "1/√n",
    "simcut": "SimCut",
    "rdrop": "R-Drop",
    "bleu": "BLEU",
}
CHOICES = tuple(
    choice.replace("_", " ")
    for kind in KINDS.values()
    if typing.get_origin(kind) is typing.Literal
    for choice in typing.get_args(kind)
    if choice not in _NAMES
)
"""The choices of settings that are words."""
_NEVER_IF_0 = ("stop_when_right", "patience")


def unread_by(architecture: str) -> set[str]:
    """The settings of a model that this architecture does not read."""
    return _MODEL - _READ_BY.get(architecture, _MODEL)


def read_by(preset: Preset, names: Sequence[str]) -> list[str]:
    """Those of the `names` of a model's settings that the architecture of a preset reads."""
    unread = unread_by(str(preset.model.get("architecture")))
    return [name for name in names if name not in unread]


def label_of(name: str) -> str:
    """The label of a setting's field."""
    return translated(english_label(name))


def help_of(name: str) -> str:
    """What a setting does, in a sentence; empty if nothing is known."""
    return translated(HELP[name]) if HELP[name] else ""


def english_label(name: str) -> str:
    """The label of a setting's field in English."""
    return _LABELS.get(name) or name.removeprefix("n_").replace("_", " ").capitalize()


def problem(preset: Preset, changes: Changes) -> str:
    """Why these sizes and settings cannot be combined; empty if they can."""
    values = {**preset.model, **preset.training, **{name: value_of(KINDS[name], text) for name, text in changes}}
    try:
        for cls in _CLASSES:
            from_dict(cls, {item.name: values[item.name] for item in dataclasses.fields(cls) if item.name in values})
    except ConfigError as error:
        return str(error)
    return ""


def refusal(name: str, value: Any) -> str:
    """Why a training setting cannot have this value; empty if it can."""
    try:
        from_dict(TrainConfig, {name: value})
    except ConfigError as error:
        return str(error)
    return ""


def setting(preset: Preset, changes: Changes, name: str) -> Any:
    """The value of one training setting once the changes are applied."""
    given = dict(changes)
    return value_of(KINDS[name], given[name]) if name in given else preset.training.get(name, DEFAULTS[name])


def evaluation_every(preset: Preset, steps: int) -> int:
    """Updates between evaluations: those of the preset, or in proportion fewer for a run that is shorter than its."""
    every, usual = (preset.training.get(name, DEFAULTS[name]) for name in ("eval_every", "max_steps"))
    return max(1, every * steps // usual) if 0 < steps < usual else int(every)


def written(name: str, value: Any) -> str:
    """Write the value of a setting for people."""
    if isinstance(value, bool):
        return t("yes") if value else t("no")
    if typing.get_origin(KINDS.get(name)) is typing.Literal:
        return _NAMES.get(value) or translated(str(value).replace("_", " "))
    if name in _NEVER_IF_0 and value == 0:
        return t("never")
    if isinstance(value, int) and "seed" not in name:
        return t("{n:,.0f}", n=value)
    return in_digits_of(current(), f"{value:g}") if isinstance(value, float) else str(value)


def described(name: str, text: str) -> str:
    """A setting's label with its value, which is given as after `--set`."""
    return f"{label_of(name)} {written(name, value_of(KINDS[name], text))}"


def as_text(value: Any) -> str:
    """Write a value as `--set` expects it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def value_of(kind: Any, text: str) -> Any:
    """Parse a value of this type from the text after `--set`."""
    if kind is bool:
        return text == "true"
    return kind(text) if kind in (int, float) else text


def increment(value: float) -> float:
    """The step of a number field's + and − buttons, given its initial value; whole for whole numbers."""
    if isinstance(value, int):
        return max(1, 10 ** (len(str(value)) - 2)) if value >= 100 else 1
    return 0.05 if value == 0 or value >= 0.1 else float(f"{value / 2:.1g}")
