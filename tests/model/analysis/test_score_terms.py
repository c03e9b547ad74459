"""Scores taken apart: the terms add up to them, and say what is known by construction."""

from typing import Any

import numpy as np
import pytest

from model.analysis.importance import heads_of
from model.analysis.score_terms import Part, ScoreTermsError, grouped, head_terms
from model.config import EOS, SOS
from tests.tiny import random_ids, tiny_model

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
    lowest = head_terms(model, SRC, TGT, ("encoder", 0, 0))
    keys = model.encoder.layers[0].self_attn.k_proj.weight[:8].detach().T
    vectors = {"word": 4 * model.src_embedding.weight[SRC].detach(), "position": model.positions_src.table(len(SRC))}
    for part, vector in vectors.items():
        assert np.allclose(lowest.keys[lowest.key_parts.index(Part(part))], (vector @ keys).numpy(), atol=1e-5)
    decoder = head_terms(model, SRC, TGT, ("decoder", 0, 1))
    assert decoder.query_parts == (Part("word"), Part("position"), Part("bias"))
    assert not decoder.seen[0, 1:].any(), "the future is masked"


def test_above_the_row() -> None:
    model = tiny_model()
    for head in (("decoder", 1, 2), ("cross", 2, 0)):
        found = head_terms(model, SRC, TGT, head)
        for query in range(found.scores.shape[0]):
            seen = np.flatnonzero(found.seen[query])
            average = np.mean([found.table(query, int(key)) for key in seen], axis=0)
            for key in seen:
                assert np.allclose(found.table_above_row(query, int(key)), found.table(query, int(key)) - average)


def test_one_token_has_no_choice_and_a_variant_is_refused() -> None:
    found = head_terms(tiny_model(), [EOS], [SOS], ("encoder", 1, 1))
    assert found.table(0, 0).sum() == pytest.approx(found.scores[0, 0], abs=1e-5)
    assert np.allclose(found.table_above_row(0, 0), 0)
    with pytest.raises(ScoreTermsError, match="residual"):
        head_terms(tiny_model(residual=False), SRC, TGT, ("encoder", 0, 0))
