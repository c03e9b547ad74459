"""Named model sizes and training settings; `--set` and the Train page override individual fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from model.config import ConfigError, nearest


@dataclass(frozen=True)
class Preset:
    """A preset: the values that differ from the defaults of ModelConfig and TrainConfig."""

    name: str
    title: str
    model: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "tiny",
            "Tiny: trains in about a minute on two cores",
            model={"d_model": 64, "d_ff": 128, "norm_first": True, "dropout": 0.0, "max_positions": 128},
            training={
                "max_steps": 750,
                # Each small batch holds strings of one length; several per update keep one length from undoing another.
                "max_tokens": 512,
                "gradient_accumulation_steps": 3,
                "learning_rate": 4e-3,
                "schedule": "cosine",
                "warmup_steps": 100,
                "label_smoothing": 0.0,
                "eval_every": 100,
                "save_every": 100,
                "select_by": "exact_match",
                "eval_sentences": 320,
            },
        ),
        Preset(
            "lstm-tiny",
            "LSTM with attention and as many parameters as tiny: what the Transformer replaced",
            model={
                "architecture": "lstm",
                "d_model": 82,
                "n_encoder_layers": 2,
                "n_decoder_layers": 1,
                "n_encoder_heads": 1,
                "n_decoder_heads": 1,
                "positions": "none",
                "dropout": 0.0,
                "max_positions": 128,
            },
            training={
                "max_steps": 750,
                "max_tokens": 512,
                "gradient_accumulation_steps": 3,
                "learning_rate": 8e-3,
                "schedule": "cosine",
                "warmup_steps": 100,
                "label_smoothing": 0.0,
                "eval_every": 100,
                "save_every": 100,
                "select_by": "exact_match",
                "eval_sentences": 320,
            },
        ),
        Preset(
            "small",
            "Small: for a few thousand to tens of thousands of sentence pairs",
            model={
                "d_model": 128,
                "d_ff": 256,
                "n_encoder_layers": 4,
                "n_decoder_layers": 4,
                "norm_first": True,
                "dropout": 0.2,
            },
            training={
                "max_steps": 8000,
                "max_tokens": 4096,
                "learning_rate": 3e-3,
                "schedule": "cosine",
                "warmup_steps": 800,
                "average_checkpoints": 5,
                "eval_every": 500,
                "save_every": 500,
                "select_by": "bleu",
                "eval_sentences": 300,
            },
        ),
        Preset(
            "paper-base",
            'Base model of "Attention Is All You Need": 50 million parameters with 6,000 subwords, for a GPU',
            model={
                "d_model": 512,
                "d_ff": 2048,
                "n_encoder_layers": 6,
                "n_decoder_layers": 6,
                "n_encoder_heads": 8,
                "n_decoder_heads": 8,
                "dropout": 0.1,
                "share_embeddings": "target",
            },
            training={
                "max_steps": 100_000,
                "max_tokens": 25_000,
                "learning_rate": 7e-4,
                "warmup_steps": 4000,
                "average_checkpoints": 5,
                "eval_every": 1000,
                "save_every": 1000,
                "select_by": "bleu",
            },
        ),
    )
}


def get_preset(name: str) -> Preset:
    """The preset of this name.

    Raises:
        ConfigError: there is no such preset; the message names the nearest.
    """
    if name not in PRESETS:
        raise ConfigError(f"there is no preset '{name}'{nearest(name, PRESETS)}")
    return PRESETS[name]
