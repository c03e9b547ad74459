"""Shortcuts: parts and parameters as ordinary attributes, and what later happens to a model reaches them, too."""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from torch import nn

from model.architectures import Model
from model.checkpoint import load_model
from model.shortcuts import with_shortcuts
from tests.model.test_lstm import tiny_lstm
from tests.paths import CHECKPOINTS
from tests.tiny import sources, targets, tiny_model


def every_attribute_is_current(model: nn.Module) -> bool:
    """Whether each module finds, as an attribute, the very parameters and submodules that it is made of."""
    return all(
        getattr(module, name) is part
        for module in model.modules()
        for name, part in (*module._parameters.items(), *module._modules.items())
    )


def test_parts_are_ordinary_attributes_and_nothing_else_changes() -> None:
    for plain, quick in ((tiny_model(), with_shortcuts(tiny_model())), (tiny_lstm(), with_shortcuts(tiny_lstm()))):
        assert "output" not in vars(plain)
        assert "output" in vars(quick)
        assert "weight" in vars(quick.output)
        assert every_attribute_is_current(quick)
        assert list(quick.state_dict()) == list(plain.state_dict())
        with torch.inference_mode():
            assert torch.equal(quick(sources(5, 3), targets(4, 2)), plain(sources(5, 3), targets(4, 2)))


def test_a_loaded_model_has_them() -> None:
    model = load_model(Path(CHECKPOINTS) / "reverse").transformer
    assert "norm1" in vars(model.encoder.layers[0])
    assert every_attribute_is_current(model)


def test_converted_parameters_are_found() -> None:
    src, tgt = sources(5, 3), targets(4, 2)
    for model in (tiny_model(positions="learned"), tiny_lstm()):
        plain, quick = copy.deepcopy(model).double(), with_shortcuts(model).double()
        assert every_attribute_is_current(quick)
        with torch.inference_mode():
            logits = quick(src, tgt)
            assert logits.dtype == torch.float64
            assert torch.equal(logits, plain(src, tgt))


def test_loaded_and_trained_parameters_are_found() -> None:
    def trained(model: Model) -> Model:
        model.load_state_dict(tiny_model(seed=7).state_dict())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(sources(5), targets(4)).square().mean().backward()
        optimizer.step()
        return model

    plain, quick = trained(tiny_model()), trained(with_shortcuts(tiny_model()))
    assert every_attribute_is_current(quick)
    assert torch.equal(quick(sources(5), targets(4)), plain(sources(5), targets(4)))


def test_what_is_assigned_later_is_found() -> None:
    quick = with_shortcuts(tiny_model())
    layer = quick.encoder.layers[0]
    norm, weight = nn.LayerNorm(16), nn.Parameter(torch.zeros(16, 16))
    layer.norm1, layer.self_attn.q_proj.weight = norm, weight
    assert layer.norm1 is norm
    assert layer.self_attn.q_proj.weight is weight
    assert every_attribute_is_current(quick)


def test_a_copy_finds_its_own_parts() -> None:
    quick = with_shortcuts(tiny_model())
    twin = copy.deepcopy(quick)
    assert every_attribute_is_current(twin)
    before = quick(sources(5), targets(4))
    twin.reset_parameters(torch.Generator().manual_seed(9))
    assert torch.equal(quick(sources(5), targets(4)), before)
    assert not torch.equal(twin(sources(5), targets(4)), before)
