"""Counterfactual rows, zeroed values and shares of the source, against single runs with edits and against loops."""

from typing import Any

import numpy as np
import pytest
import torch

from explorer.decoding.aggregates import layer_norms, shares
from model.analysis.cross_checks import COUNTERFACTUALS, counterfactual_rows, layer_maps, value_zeroing
from model.analysis.head_details import head_details
from model.config import EOS, SOS
from model.decoding.search import allowed_log_probs, output_rules
from model.edits import patch
from model.points import attention_scope
from model.recording import AttentionRecorder, PointRecorder
from model.tap import compose
from tests.model.analysis.test_head_details import PATH, encoding
from tests.model.test_decoder_only import CONTINUES, PREFIX_MODEL
from tests.tiny import random_ids, tiny_model

SRC = [*random_ids(5, seed=3).tolist(), EOS]
READ = [SOS, *random_ids(4, seed=4).tolist()]


def best(logits: torch.Tensor, config: object) -> int:
    return int(allowed_log_probs(logits, output_rules(config)).argmax())


def uniform(own: torch.Tensor) -> torch.Tensor:
    return (own > 0) / (own > 0).sum()  # the weight of a key that a row sees is never exactly 0


def without_largest(own: torch.Tensor) -> torch.Tensor:
    others = own.index_fill(0, own.argmax(), 0.0)
    return others / others.sum()


@pytest.mark.parametrize("changes", [{}, {"seed": 1}, {"seed": 2}, PREFIX_MODEL, CONTINUES])
def test_a_counterfactual_row_is_an_edit_of_that_row_in_every_head(changes: dict[str, Any]) -> None:
    """The rows of the untouched model, changed by hand layer by layer, since each layer sees the change below it."""
    model = tiny_model(**changes)
    kind, n = (
        ("decoder", model.joined(torch.tensor([SRC]), torch.tensor([READ])).size(1))
        if changes.get("architecture")
        else ("cross", len(SRC))
    )
    before_rows = n - len(READ) if kind == "decoder" else 0
    src, read = torch.tensor([SRC]), torch.tensor([READ])
    names = [f"{attention_scope(kind, layer)}.weights" for layer in range(3)]
    found = counterfactual_rows(model, SRC, READ)
    with torch.inference_mode():
        plain = model(src, read)[0]
        assert found.predicted.tolist() == [best(row, model.config) for row in plain]
        for row in range(len(READ)):
            at = before_rows + row
            for name, change in (("uniform", uniform), ("largest removed", without_largest)):

                def changed(weights: torch.Tensor, at: int = at, change: Any = change) -> torch.Tensor:
                    copy = weights.clone()
                    for own in copy[0, :, at]:
                        own[:] = change(own)
                    return copy

                logits = model(src, read, tap=patch(model.config, dict.fromkeys(names, changed)))[0, row]
                assert found.stays[name][row] == (best(logits, model.config) == found.predicted[row])
                after, before = (
                    allowed_log_probs(rows, output_rules(model.config))[found.predicted[row]]
                    for rows in (logits, plain[row])
                )
                assert found.change[name][row] == pytest.approx(float(after - before), abs=1e-5)
    assert set(found.stays) == set(COUNTERFACTUALS)
    again, other = (counterfactual_rows(model, SRC, READ, seed=seed).change for seed in (0, 1))
    assert np.array_equal(found.change["shuffled"], again["shuffled"]), "drawn with a seed"
    assert not np.array_equal(found.change["shuffled"], other["shuffled"])
    assert np.array_equal(found.change["uniform"], other["uniform"])


@pytest.mark.parametrize(("kind", "layer"), [("encoder", 1), ("decoder", 2), ("cross", 0)])
@pytest.mark.parametrize("norm_first", [True, False])
def test_value_zeroing_compares_the_layers_output_key_by_key(kind: str, layer: int, norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    found = value_zeroing(model, SRC, READ, kind, layer)
    src, read = torch.tensor([SRC]), torch.tensor([READ])
    stack, block, nth = ("encoder", "self_attn", 2) if kind == "encoder" else ("decoder", "self_attn", 3)
    block = "cross_attn" if kind == "cross" else block
    point = f"{stack}.{layer}.{'residual' if norm_first else 'norm'}{nth}"
    whole, rows = PointRecorder([point]), []
    with torch.inference_mode():
        model(src, read, tap=whole)
        for key in range(found.shape[1]):
            changed, weights = PointRecorder([point]), AttentionRecorder()

            def zero(value: torch.Tensor, key: int = key) -> torch.Tensor:
                copy = value.clone()
                copy[:, :, key] = 0
                return copy

            tap = compose(patch(model.config, {f"{stack}.{layer}.{block}.value": zero}), changed, weights)
            model(src, read, tap=tap)
            a, b = (recorder.tensors[point][0].double().numpy() for recorder in (changed, whole))
            rows.append(1 - (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1))
    expected = np.array(rows).T
    expected = np.where(expected < 1e-6, 0, expected)
    total = expected.sum(axis=1, keepdims=True)
    assert np.allclose(found, np.divide(expected, total, out=np.zeros_like(expected), where=total > 0), atol=1e-3)
    if kind == "decoder":
        assert np.allclose(np.triu(found, 1), 0), "a key that a row may not see cannot matter"


@pytest.mark.parametrize(
    "changes", [{"norm_first": True, "attention_gate": True}, {"norm_first": True}, {"norm_first": False}, PREFIX_MODEL]
)
def test_the_maps_of_all_layers_are_weights_norms_and_zeroed_values(changes: dict[str, Any]) -> None:
    """The norms by another path: head by head from the vectors of a recorded decoding (Kobayashi 2020, eq. 6)."""
    model, source = tiny_model(**changes), encoding()
    src, read = (*source.ids, EOS), (SOS, *PATH[:-1])
    maps = layer_maps(model, src, read)
    assert set(maps) == {(kind, i) for kind in model.config.kinds for i in range(model.config.n_layers(kind))}
    for (kind, layer), found in maps.items():
        heads = [(kind, layer, head) for head in range(model.config.n_heads(kind))]
        details = head_details(model, (*source.ids, EOS), (SOS, *PATH[:-1]), heads)
        norms = layer_norms([details[head] for head in heads], found.norms.shape[1])
        assert np.allclose(found.norms, shares(norms), atol=1e-5)
        for query, row in enumerate(found.weights):
            mean = np.mean([details[head].rows[query].weights for head in heads], axis=0)
            assert np.allclose(row[: len(mean)], mean, atol=1e-5)
        assert np.array_equal(found.zeroed, value_zeroing(model, src, read, kind, layer))
