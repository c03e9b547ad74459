"""The models that a configuration can name."""

from __future__ import annotations

from typing import TypeAlias

from model.config import ModelConfig
from model.lstm import LSTM
from model.transformer import Transformer

Model: TypeAlias = Transformer | LSTM


def make_model(config: ModelConfig) -> Model:
    """A new model of the configured architecture, with weights drawn at random."""
    return LSTM(config) if config.architecture == "lstm" else Transformer(config)
