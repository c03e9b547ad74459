"""Shares of the source in a prediction, against loops."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model.analysis.source_share import SourceShareError, source_shares, sublayers
from model.config import EOS, SOS
from model.recording import PointRecorder
from tests.model.test_decoder_only import CONTINUES, PREFIX_MODEL
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
    [{}, {"seed": 1}, {"attention_gate": True}, {"positions": "rope"}, {"positions": "alibi"}, {"scale_scores": False}]
    + [PREFIX_MODEL],
)
def test_the_parts_add_up_to_what_the_model_computed(norm_first: bool, changes: dict[str, Any]) -> None:
    model = tiny_model(**(changes | {"norm_first": norm_first}))
    points = recorded(model)
    for layer, pair in enumerate(sublayers(model, SRC, READ)):
        for nth, part in enumerate(pair, start=1):
            wanted = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}{nth}"]
            assert np.allclose(part.output, wanted, atol=1e-5)
            assert np.allclose(part.parts.sum(axis=1) + part.bias, wanted, atol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("changes", [{}, PREFIX_MODEL, CONTINUES], ids=["encoder", "prefix", "continues"])
def test_the_shares_are_those_of_the_paper_in_loops(norm_first: bool, changes: dict[str, Any]) -> None:
    """Layer by layer, query by query, key by key, head by head, from the recorded points and the plain matrices."""
    model = tiny_model(**(changes | {"norm_first": norm_first}))
    points, kinds = recorded(model), model.config.kinds
    stream = points["tgt.positions"]
    n = len(stream)
    of_source, of_target = np.zeros((n, len(SRC))), np.eye(n)  # how much of position t comes from each token
    n_prompt = 0 if "cross" in kinds else n - len(READ) + (not model.config.separator)
    for t in range(n_prompt):
        of_source[t, t], of_target[t, t] = 1.0, 0.0
    for layer, block in enumerate(model.decoder.layers):
        names = ("self_attn", "cross_attn") if "cross" in kinds else ("self_attn",)
        for nth, name in enumerate(names, start=1):
            projection, scope = block.get_submodule(f"{name}.out_proj"), f"decoder.{layer}.{name}"
            matrix, bias = (part.detach().double().numpy() for part in projection.parameters())
            weights, values = points[f"{scope}.weights"], points[f"{scope}.value"]
            heads = list(enumerate(np.split(matrix, len(values), axis=1)))
            new_source, new_target = np.zeros_like(of_source), np.zeros_like(of_target)
            for q in range(n):
                keys = range(values.shape[1])
                parts = [sum(weights[h, q, k] * part @ values[h, k] for h, part in heads) for k in keys]
                if name == "self_attn":
                    parts[q] = parts[q] + stream[q]
                else:
                    parts.append(stream[q])
                whole = sum(parts) + bias
                if not norm_first:
                    norm = block.get_submodule(f"norm{nth}")
                    gain, shift = (part.detach().double().numpy() for part in norm.parameters())
                    sigma = np.sqrt(whole.var() + norm.eps)
                    parts = [gain * (part - part.mean()) / sigma for part in parts]
                    whole = gain * (whole - whole.mean()) / sigma + shift
                near = [max(0.0, np.abs(whole).sum() - np.abs(whole - part).sum()) for part in parts]
                near = [value / sum(near) for value in near]
                if name == "self_attn":
                    new_source[q] = sum(share * of_source[k] for k, share in enumerate(near))
                    new_target[q] = sum(share * of_target[k] for k, share in enumerate(near))
                else:
                    new_source[q] = near[-1] * of_source[q] + np.array(near[:-1])
                    new_target[q] = near[-1] * of_target[q]
            of_source, of_target = new_source, new_target
            stream = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}{nth}"]
        stream = points[f"decoder.{layer}.{'residual' if norm_first else 'norm'}{len(names) + 1}"]
    found = source_shares(model, SRC, READ)
    assert np.allclose(found, of_source.sum(axis=1)[-len(READ) :], atol=1e-5)
    assert np.allclose(of_source.sum(axis=1) + of_target.sum(axis=1), 1)
    if not model.config.separator:
        assert found[0] == pytest.approx(1.0), "the first row is the last of the prompt"
        found = found[1:]
    assert ((found > 0) & (found < 1)).all()


def test_a_variant_is_refused_with_a_reason() -> None:
    with pytest.raises(SourceShareError, match="Choose a model with the paper's layers"):
        source_shares(tiny_model(residual=False), SRC, READ)
