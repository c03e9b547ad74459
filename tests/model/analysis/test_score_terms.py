"""Scores taken apart: the terms add up to them, and say what is known by construction."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.analysis.importance import heads_of
from model.analysis.score_terms import Part, ScoreTermsError, grouped, head_terms
from model.config import EOS, SOS
from model.edits import patch
from model.points import attention_scope
from model.recording import PointRecorder
from model.tap import compose
from model.transformer import Transformer
from tests.tiny import random_ids, tiny_config, tiny_model

SRC = [*random_ids(6, seed=3).tolist(), EOS]
TGT = [SOS, *random_ids(4, seed=4).tolist()]
SCHEMES: list[dict[str, Any]] = [
    {"norm_first": True, "positions": "learned"},
    {"norm_first": False, "positions": "none"},
    {"norm_first": True, "positions": "alibi"},
    {"norm_first": False, "positions": "learned", "attention_gate": True},
    {"positions": "rope", "rope_base": 50.0, "rope_halves": True, "key_value_heads": 1},
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_the_terms_add_up_to_every_score_of_every_head(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    for head in heads_of(model.config):
        found = head_terms(model, SRC, TGT, head)
        assert set(found.query_parts) >= {Part("word"), Part("position"), Part("bias")}
        for query, key in np.ndindex(found.scores.shape):
            table = found.table(query, key)
            if scheme["positions"] == "alibi" and head[0] != "cross":
                slope = 2 ** (-8 * (head[2] + 1) / model.config.n_heads(head[0]))
                assert table[-1, -1] == pytest.approx(-slope * abs(query - key))
                assert not table[-1, :-1].any()
                assert not table[:-1, -1].any()
            assert table.sum() == pytest.approx(found.scores[query, key], abs=1e-5)
        small, rows, columns = grouped(table, found.query_parts, found.key_parts)
        assert small.shape == (len(rows), len(columns))
        assert small.sum() == pytest.approx(table.sum())


def test_the_parts_are_all_that_was_written_before() -> None:
    model = tiny_model()
    encoder = head_terms(model, SRC, TGT, ("encoder", 1, 0))
    assert encoder.query_parts == encoder.key_parts
    first = [Part("head", "encoder", 0, 0), Part("head", "encoder", 0, 1), Part("feed_forward", "encoder", 0)]
    assert list(encoder.key_parts) == [Part("word"), Part("position"), Part("bias"), *first]
    cross = head_terms(model, SRC, TGT, ("cross", 1, 0))
    written = {(part.source, part.stack, part.layer) for part in cross.query_parts}
    assert ("head", "decoder", 1) in written, "self-attention comes before cross-attention"
    assert ("head", "cross", 0) in written
    assert ("head", "cross", 1) not in written
    assert {part.stack for part in cross.key_parts} == {"", "encoder"}
    assert sum(part.source == "feed_forward" for part in cross.key_parts) == 2
    decoder = head_terms(model, SRC, TGT, ("decoder", 0, 1))
    assert decoder.query_parts == (Part("word"), Part("position"), Part("bias"))
    assert not decoder.seen[0, 1:].any(), "the future is masked"


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_part_is_what_is_missing_without_it(norm_first: bool) -> None:
    """An earlier head is switched off in a model whose norms, weights and networks are held at what they were."""
    model = tiny_model(norm_first=norm_first)
    recorder = PointRecorder()
    src, tgt = torch.tensor([SRC]), torch.tensor([TGT])
    with torch.inference_mode():
        model(src, tgt, tap=recorder)
    kept = dict(recorder.tensors)
    frozen = _with_frozen_norms(model, kept)
    fixed = {
        name: (lambda _, name=name: kept[name]) for name in kept if name.endswith((".weights", "feed_forward.linear2"))
    }
    for erased, head in (
        (("encoder", 0, 1), ("encoder", 1, 0)),
        (("encoder", 1, 0), ("cross", 1, 2)),
        (("cross", 0, 3), ("decoder", 1, 1)),
    ):  # no head in between reads what the erased one wrote
        kind, layer, number = erased

        def without(output: Tensor, number: int = number) -> Tensor:
            changed = output.clone()
            changed[:, number] = 0.0
            return changed

        again = PointRecorder()
        with torch.inference_mode():
            point = f"{attention_scope(kind, layer)}.output"
            frozen(src, tgt, tap=compose(patch(model.config, {**fixed, point: without}), again))
        found = head_terms(model, SRC, TGT, head)
        compared = 0
        for side, parts, vectors in (("query", found.query_parts, found.queries), ("key", found.key_parts, found.keys)):
            name, index = f"{attention_scope(head[0], head[1])}.{side}", Part("head", *erased)
            if index in parts:
                lost = (kept[name] - again.tensors[name])[0, head[2]].numpy()
                assert np.allclose(vectors[parts.index(index)], lost, atol=1e-5)
                compared += 1
        assert compared == (1 if head[0] == "cross" else 2)


def _with_frozen_norms(model: Transformer, kept: dict[str, Tensor]) -> Transformer:
    twin = Transformer(model.config)
    twin.load_state_dict(model.state_dict())
    twin.eval()
    config = model.config
    for stack, blocks in (("encoder", 2), ("decoder", 3)):
        before = "src.positions" if stack == "encoder" else "tgt.positions"
        layers = getattr(twin, stack).layers
        for i, layer in enumerate(layers):
            for nth in range(1, blocks + 1):
                name = before if config.norm_first else f"{stack}.{i}.residual{nth}"
                setattr(layer, f"norm{nth}", Frozen(getattr(layer, f"norm{nth}"), kept[name]))
                before = f"{stack}.{i}.residual{nth}"
        if config.norm_first:
            getattr(twin, stack).norm = Frozen(getattr(twin, stack).norm, kept[before])
    return twin


class Frozen(nn.Module):
    """A norm that divides by the standard deviation of what was read first."""

    def __init__(self, norm: nn.LayerNorm, x: Tensor) -> None:
        super().__init__()
        self.norm = norm
        self.deviation = torch.sqrt(((x - x.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True) + norm.eps)

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) / self.deviation * self.norm.weight + self.norm.bias


# A model whose answer is known: vectors of words lie in dimensions 0–3, of positions in 4–7, of the head in 8–11; each
# sums to 0, so that no norm moves one into another.

WORD, POSITION, HEAD = slice(0, 4), slice(4, 8), slice(8, 12)


def planted(norm_first: bool) -> Transformer:
    """Two encoder layers of one head: the second looks from positions to what the first head wrote about words."""
    heads = {"n_encoder_heads": 1, "n_decoder_heads": 1, "n_encoder_layers": 2, "n_decoder_layers": 1}
    config = tiny_config(d_model=12, d_ff=4, norm_first=norm_first, positions="learned", **heads)
    model = Transformer(config).eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.fill_(1.0)
        for table, dimensions in ((model.src_embedding.weight, WORD), (model.positions_src.embedding.weight, POSITION)):
            rows = torch.randn(table.size(0), 4, generator=generator)
            table[:, dimensions] = rows - rows.mean(1, keepdim=True)
        first, second = (layer.self_attn for layer in model.encoder.layers)
        turn, _ = torch.linalg.qr(torch.randn(4, 4, generator=generator))
        centre = torch.eye(4) - 0.25  # sums of 0 stay sums of 0
        first.v_proj.weight[HEAD, WORD] = 3 * centre @ turn @ centre  # its queries and keys are 0: it looks everywhere
        first.out_proj.weight[HEAD, HEAD] = torch.eye(4)
        second.q_proj.weight[HEAD, POSITION] = 4 * turn
        second.k_proj.weight[HEAD, HEAD] = torch.eye(4)
    return model


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_planted_pair_explains_the_whole_score(norm_first: bool) -> None:
    model = planted(norm_first)
    found = head_terms(model, SRC, TGT, ("encoder", 1, 0))
    pair = found.query_parts.index(Part("position")), found.key_parts.index(Part("head", "encoder", 0, 0))
    assert np.abs(found.scores).max() > 0.01
    for query in range(len(SRC)):
        for key in range(len(SRC)):
            table = found.table(query, key)
            assert table[pair] == pytest.approx(found.scores[query, key], abs=1e-5)
            assert np.abs(np.delete(table.ravel(), pair[0] * table.shape[1] + pair[1])).max() < 1e-6
    mean = found.mean_table()
    assert np.abs(mean).sum() == pytest.approx(abs(mean[pair]), abs=1e-5)


def test_above_the_row_and_on_average() -> None:
    model = tiny_model()
    for head in (("decoder", 1, 2), ("cross", 2, 0)):
        found = head_terms(model, SRC, TGT, head)
        expected, rows = 0.0, 0
        for query in range(found.scores.shape[0]):
            seen = np.flatnonzero(found.seen[query])
            average = np.mean([found.table(query, int(key)) for key in seen], axis=0)
            for key in seen:
                assert np.allclose(found.table_above_row(query, int(key)), found.table(query, int(key)) - average)
            if len(seen) > 1:
                rows += 1
                expected = expected + sum(
                    (found.weights[query, key] - 1 / len(seen)) * found.table(query, int(key)) for key in seen
                )
        assert np.allclose(found.mean_table(), expected / rows)


def test_one_token_has_no_choice_and_a_variant_is_refused() -> None:
    found = head_terms(tiny_model(), [EOS], [SOS], ("encoder", 1, 1))
    assert np.isnan(found.mean_table()).all()
    assert found.table(0, 0).sum() == pytest.approx(found.scores[0, 0], abs=1e-5)
    assert np.allclose(found.table_above_row(0, 0), 0)
    assert found.weights[0, 0] == pytest.approx(1.0)
    with pytest.raises(ScoreTermsError, match="residual"):
        head_terms(tiny_model(residual=False), SRC, TGT, ("encoder", 0, 0))
