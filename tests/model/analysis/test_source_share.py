"""Shares of source and prefix: the parts add up, the shares are recomputed with loops, and planted models are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model.analysis.source_share import SourceShareError, source_shares, sublayers
from model.config import EOS, SOS
from model.recording import PointRecorder
from tests.tiny import random_ids, tiny_model

SRC = [*random_ids(5, seed=3).tolist(), EOS]
READ = [SOS, *random_ids(4, seed=4).tolist()]


def recorded(model: nn.Module) -> dict[str, np.ndarray]:
    recorder = PointRecorder()
    with torch.inference_mode():
        model(torch.tensor([SRC]), torch.tensor([READ]), tap=recorder)
    return {name: tensor[0].double().numpy() for name, tensor in recorder.tensors.items()}


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize(
    "changes",
    [{}, {"seed": 1}, {"attention_gate": True}, {"positions": "rope"}, {"positions": "alibi"}, {"scale_scores": False}],
)
def test_the_parts_add_up_to_what_the_model_computed(norm_first: bool, changes: dict[str, Any]) -> None:
    model = tiny_model(norm_first=norm_first, **changes)
    points = recorded(model)
    for layer, pair in enumerate(sublayers(model, SRC, READ)):
        for nth, part in enumerate(pair, start=1):
            wanted = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}{nth}"]
            assert np.allclose(part.output, wanted, atol=1e-5)
            assert np.allclose(part.parts.sum(axis=1) + part.bias, wanted, atol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_shares_are_those_of_the_paper_in_loops(norm_first: bool) -> None:
    """Layer by layer, query by query, key by key, head by head, from the recorded points and the plain matrices."""
    model = tiny_model(norm_first=norm_first)
    points, n, m = recorded(model), len(READ), len(SRC)
    of_source = np.zeros((n, m))  # how much of position t comes from source token j
    of_target = np.eye(n)
    stream = points["tgt.positions"]
    for layer in range(3):
        block = model.decoder.layers[layer]
        for nth, (name, keys) in enumerate((("self_attn", n), ("cross_attn", m)), start=1):
            attention, scope = getattr(block, name), f"decoder.{layer}.{name}"
            matrix, bias = (
                part.detach().double().numpy() for part in (attention.out_proj.weight, attention.out_proj.bias)
            )
            weights, values = points[f"{scope}.weights"], points[f"{scope}.value"]
            new_source, new_target = np.zeros((n, m)), np.zeros((n, n))
            for q in range(n):
                added = np.zeros((keys, len(bias)))
                for h in range(len(values)):
                    for k in range(keys):
                        size = values.shape[-1]
                        added[k] += weights[h, q, k] * matrix[:, h * size : (h + 1) * size] @ values[h, k]
                parts = list(added)
                if name == "self_attn":
                    parts[q] = parts[q] + stream[q]
                else:
                    parts.append(stream[q])
                whole = sum(parts) + bias
                if not norm_first:
                    norm = getattr(block, f"norm{nth}")
                    gain, shift = norm.weight.detach().double().numpy(), norm.bias.detach().double().numpy()
                    sigma = np.sqrt(whole.var() + norm.eps)
                    parts = [gain * (part - part.mean()) / sigma for part in parts]
                    whole = gain * (whole - whole.mean()) / sigma + shift
                near = [max(0.0, np.abs(whole).sum() - np.abs(whole - part).sum()) for part in parts]
                near = [value / sum(near) for value in near]
                if name == "self_attn":
                    for k in range(n):
                        new_source[q] += near[k] * of_source[k]
                        new_target[q] += near[k] * of_target[k]
                else:
                    new_source[q, :] = near[-1] * of_source[q] + np.array(near[:-1])
                    new_target[q] = near[-1] * of_target[q]
            of_source, of_target = new_source, new_target
            stream = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}{nth}"]
        stream = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}3"]
    found = source_shares(model, SRC, READ)
    assert np.allclose(found, of_source.sum(axis=1), atol=1e-5)
    assert np.allclose(of_source.sum(axis=1) + of_target.sum(axis=1), 1)
    assert (found > 0).all()
    assert (found < 1).all()


def test_a_variant_is_refused_with_a_reason() -> None:
    with pytest.raises(SourceShareError, match="Choose a model with the paper's layers"):
        source_shares(tiny_model(residual=False), SRC, READ)
