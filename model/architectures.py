"""The model class for a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from model.config import ModelConfig
from model.lstm import LSTM
from model.positions import PositionalEncoding
from model.transformer import Transformer
from model.variants import TransformerVariant

Model: TypeAlias = Transformer | LSTM


def make_model(config: ModelConfig) -> Model:
    """A new model of the configured architecture, with random weights."""
    return LSTM(config) if config.architecture == "lstm" else make_transformer(config)


def make_transformer(config: ModelConfig) -> Transformer:
    """A new Transformer, the paper's or one of its variants, with random weights."""
    return TransformerVariant(config) if config.is_variant else Transformer(config)


def empty_transformer(config: ModelConfig) -> Transformer:
    """A Transformer whose parameters have shapes, but no memory until :func:`assign_weights`."""
    with torch.device("meta"):
        model = make_transformer(config)
    if config.positions == "sinusoidal":
        model.positions_src, model.positions_tgt = PositionalEncoding(config), PositionalEncoding(config)
    return model


def assign_weights(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Make these tensors the parameters of a model, without a copy; a tied matrix comes once, under its own name."""
    aliases = model.tied_names()
    model.load_state_dict({name: weights[aliases.get(name, name)] for name in model.state_dict()}, assign=True)
    for alias, name in aliases.items():  # each name was given a parameter of its own
        module, _, attribute = alias.rpartition(".")
        setattr(model.get_submodule(module), attribute, model.get_parameter(name))
