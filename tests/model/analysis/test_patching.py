"""Patched values, against a model that is run from the patched vector on by hand."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from model.analysis.patching import (
    PatchError,
    changed_rows,
    neighbours,
    patch_effects,
    patch_grid,
    patched_points,
)
from model.config import EOS, SOS
from model.decoding.search import allowed_log_probs, output_rules
from model.edits import HeadEdit, HeadEdits
from model.masks import padding_mask, target_mask
from model.recording import AttentionRecorder, PointRecorder
from model.transformer import Transformer
from tests.model.test_decoder_only import CONTINUES, PREFIX_MODEL
from tests.tiny import random_ids, tiny_model

SRC, OTHER = ([*random_ids(5, seed=seed).tolist(), EOS] for seed in (3, 9))
READ = [SOS, *random_ids(3, seed=4).tolist()]


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_patched_layer_is_the_rest_of_the_model_run_on_the_patched_vectors(norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    for other, said in ((OTHER[1:], "5 tokens, the other one 4"), (SRC, "the same")):
        with pytest.raises(PatchError, match=said):
            patch_grid(model, SRC, other, READ, token=7)
    found = patch_grid(model, SRC, OTHER, READ, token=7)
    own, donor = _recorded(model, SRC), _recorded(model, OTHER)
    assert found.log_probs["encoder"].shape == (3, 6)
    assert found.log_probs["decoder"].shape == (4, 4)
    for stack, n_points, positions, rest in (
        ("encoder", 3, (0, 3), _from_encoder),
        ("decoder", 4, (1, 3), _from_decoder),
    ):
        for point, position in product(range(n_points), positions):
            name = patched_points(model.config, stack)[point]
            x = own[name].clone()
            x[0, position] = donor[name][0, position]
            log_probs = rest(model, x, point)
            assert found.log_probs[stack][point, position] == pytest.approx(float(log_probs[7]), abs=1e-5)
            assert found.likeliest[stack][point, position] == int(log_probs.argmax())
    assert found.own == pytest.approx(float(_from_encoder(model, own["src.positions"], 0)[7]), abs=1e-5)
    assert found.other == pytest.approx(float(_from_encoder(model, donor["src.positions"], 0)[7]), abs=1e-5)
    # Nothing after the last layer mixes positions: only the last row's own vector matters there.
    assert np.allclose(found.log_probs["decoder"][-1, :-1], found.own, atol=1e-5)
    assert found.log_probs["decoder"][-1, -1] == pytest.approx(found.other, abs=1e-5)
    assert np.allclose(found.log_probs["decoder"][0], found.own, atol=1e-5), "both runs read the same target"


@pytest.mark.parametrize("changes", [{"norm_first": True}, {"norm_first": False}, PREFIX_MODEL, CONTINUES])
def test_effects_are_differences_of_two_tokens_and_heads_are_output_edits(changes: dict[str, Any]) -> None:
    model = tiny_model(**changes)
    found = patch_effects(model, SRC, OTHER, READ, token=7, instead=9)
    own, instead = (patch_grid(model, SRC, OTHER, READ, token=token) for token in (7, 9))
    assert found.gap == pytest.approx((own.own - own.other) - (instead.own - instead.other), abs=1e-5)
    for stack, values in found.places.items():
        by_token = [grid.own - grid.log_probs[stack] for grid in (own, instead)]
        assert np.allclose(values, by_token[0] - by_token[1], atol=1e-5)
    src, other, read = (torch.tensor([ids]) for ids in (SRC, OTHER, READ))
    assert set(found.heads) == set(model.config.kinds)
    for kind, values in found.heads.items():
        assert values.shape == (model.config.n_layers(kind), model.config.n_heads(kind))
        for layer, head in ((0, 1), (1, 0)):
            recorder = AttentionRecorder(details=[(kind, layer, head)])
            with torch.inference_mode():
                model(other, read, tap=recorder)
                output = recorder.details[kind, layer, head][0]["output"][0].numpy()
                edit = HeadEdits((HeadEdit(kind, layer, head, "output", values=output),))
                both = [model(src, read, tap=tap)[0, -1] for tap in (None, edit.tap(model.config))]
            before, after = (float(row[7] - row[9]) for row in both)
            assert values[layer, head] == pytest.approx(before - after, abs=1e-5)


def test_rows_change_with_the_source_and_neighbours_are_the_nearest_embeddings() -> None:
    model = tiny_model()
    found = changed_rows(model, SRC, [OTHER, SRC], READ)
    assert not found.fall[1].any()
    assert not found.answer_changes[1].any()
    with torch.inference_mode():
        both = [
            allowed_log_probs(model(torch.tensor([ids]), torch.tensor([READ]))[0], output_rules(model.config))
            for ids in (SRC, OTHER)
        ]
    for row, token in enumerate(found.token):
        assert token == both[0][row].argmax()
        assert found.instead[0, row] == both[1][row].argmax()
        assert found.chance[0, row] == pytest.approx(float(both[1][row].max().exp()), abs=1e-5)
        assert found.fall[0, row] == pytest.approx(float(both[0][row, token] - both[1][row, token]), abs=1e-5)
    near, cosines = neighbours(model, SRC[:2], 3)
    vectors = model.src_embedding.weight.detach()
    similar = torch.cosine_similarity(vectors[SRC[0]][None], vectors, dim=-1)
    expected = [int(i) for i in similar.argsort(descending=True) if i > 3 and i != SRC[0]][:3]
    assert near.shape == (2, 3)
    assert near[0].tolist() == expected
    np.testing.assert_allclose(cosines[0], similar[expected], atol=1e-6)


def _recorded(model: Transformer, src: list[int]) -> dict[str, torch.Tensor]:
    recorder = PointRecorder()
    with torch.inference_mode():
        model(torch.tensor([src]), torch.tensor([READ]), tap=recorder)
    return recorder.tensors


@torch.inference_mode()
def _from_encoder(model: Transformer, x: torch.Tensor, first: int) -> torch.Tensor:
    mask = padding_mask(torch.tensor([SRC]))
    memory = model.encoder(x, mask=mask, start=first)
    logits = model.logits(model.decode(torch.tensor([READ]), memory, src_mask=mask))
    return allowed_log_probs(logits[:, -1], output_rules(model.config))[0]


@torch.inference_mode()
def _from_decoder(model: Transformer, x: torch.Tensor, first: int) -> torch.Tensor:
    mask = padding_mask(torch.tensor([SRC]))
    cross_kv = model.decoder.project_memory(model.encode(torch.tensor([SRC])))
    rows = target_mask(torch.tensor([READ]), causal=True)
    hidden, _ = model.decoder(x, cross_kv, self_mask=rows, cross_mask=mask, start=first)
    logits = model.logits(hidden)
    return allowed_log_probs(logits[:, -1], output_rules(model.config))[0]
