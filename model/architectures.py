"""The model class for a configuration."""

from __future__ import annotations

from typing import TypeAlias

from model.config import ModelConfig
from model.lstm import LSTM
from model.transformer import Transformer
from model.variants import TransformerVariant

Model: TypeAlias = Transformer | LSTM


def make_model(config: ModelConfig) -> Model:
    """A new model of the configured architecture, with random weights."""
    return LSTM(config) if config.architecture == "lstm" else make_transformer(config)


def make_transformer(config: ModelConfig) -> Transformer:
    """A new Transformer, the paper's or one of its variants, with random weights."""
    return TransformerVariant(config) if config.is_variant else Transformer(config)
