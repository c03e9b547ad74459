"""The model class for a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

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


class _WithoutDrawing(TorchFunctionMode):
    """Leaves new weights undrawn; memory that is never written to costs nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        # Some functions of nn.init announce themselves here; of the others, the method that draws does.
        if getattr(func, "__module__", "") == nn.init.__name__ or func in (Tensor.uniform_, Tensor.normal_):
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def empty_transformer(config: ModelConfig) -> Transformer:
    """A Transformer whose weights are arbitrary until :func:`assign_weights`, made at no cost."""
    # Not on torch's "meta" device, whose first random number imports a compiler.
    with _WithoutDrawing():
        return make_transformer(config)


def assign_weights(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Make these tensors the parameters of a model, without a copy; a tied matrix comes once, under its own name."""
    aliases = model.tied_names()
    model.load_state_dict({name: weights[aliases.get(name, name)] for name in model.state_dict()}, assign=True)
    for alias, name in aliases.items():  # each name was given a parameter of its own
        module, _, attribute = alias.rpartition(".")
        setattr(model.get_submodule(module), attribute, model.get_parameter(name))
