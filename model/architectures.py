"""The model class for a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.config import ModelConfig
from model.decoder_only import DecoderOnly
from model.lstm import LSTM
from model.transformer import Transformer
from model.variants import TransformerVariant

Model: TypeAlias = Transformer | LSTM


def make_model(config: ModelConfig) -> Model:
    """A new model of the configured architecture, with random weights."""
    return LSTM(config) if config.architecture == "lstm" else make_transformer(config)


def make_transformer(config: ModelConfig) -> Transformer:
    """A new Transformer, the paper's or one of its variants, or one without encoder, with random weights."""
    if not config.has_encoder:
        return DecoderOnly(config)
    return TransformerVariant(config) if config.is_variant else Transformer(config)


class _SkipInitialisation(TorchFunctionMode):
    """Leaves new weights uninitialised; memory that is never written to costs nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        # Some functions of nn.init arrive here as themselves, the others only as the Tensor method that draws.
        if getattr(func, "__module__", "") == nn.init.__name__ or func in (Tensor.uniform_, Tensor.normal_):
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def empty_model(config: ModelConfig) -> Model:
    """A model of the configured architecture with uninitialised weights."""
    # Torch's "meta" device is no alternative: its first random number imports a compiler.
    with _SkipInitialisation():
        return make_model(config)


def empty_transformer(config: ModelConfig) -> Transformer:
    """A Transformer with uninitialised weights, to be followed by :func:`assign_weights`."""
    with _SkipInitialisation():
        return make_transformer(config)


def assign_weights(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Use `weights` as the model's parameters, without a copy; a tied matrix is there once, by its canonical name."""
    aliases = model.tied_names()
    model.load_state_dict({name: weights[aliases.get(name, name)] for name in model.state_dict()}, assign=True)
    for alias, name in aliases.items():  # load_state_dict has created a separate parameter for each name
        module, _, attribute = alias.rpartition(".")
        setattr(model.get_submodule(module), attribute, model.get_parameter(name))
