"""The rotations of the sinusoidal table, a model's own rows, and the vectors that a model reads."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from model.analysis.sinusoidal_checks import check_rotation, table_difference
from model.analysis.token_vectors import token_vectors
from model.analysis.word_order import shuffled_order
from model.config import ModelConfig
from model.positions import PositionalEncoding, sinusoidal_table
from model.transformer import Transformer

CONFIG = ModelConfig(
    src_vocab_size=12,
    tgt_vocab_size=12,
    d_model=16,
    d_ff=16,
    n_encoder_layers=1,
    n_decoder_layers=1,
    n_encoder_heads=2,
    n_decoder_heads=2,
    max_positions=20,
)


@pytest.mark.parametrize("offset", [1, 7, 19])
def test_rows_are_rotations_of_earlier_rows(offset: int) -> None:
    check = check_rotation(20, 16, 10_000.0, offset)
    assert check.largest_error < 1e-13
    assert check.angles[0] == pytest.approx(offset)
    assert np.allclose(np.linalg.det(check.matrices), 1)
    table = sinusoidal_table(20, 16).numpy()
    assert np.allclose(check.matrices[0] @ table[0, :2], table[offset, :2])


def test_a_wrong_rotation_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from model.analysis import sinusoidal_checks

    real = sinusoidal_checks.rotations
    monkeypatch.setattr(sinusoidal_checks, "rotations", lambda offset, *rest: real(offset + 1, *rest))
    assert check_rotation(20, 16, 10_000.0, 3).largest_error > 0.1


def test_a_table_is_compared_with_the_rows_of_the_model() -> None:
    positions = PositionalEncoding(CONFIG)
    table = sinusoidal_table(20, 16)
    assert table_difference(positions, table) == 0
    table[3, 2] += 0.25
    assert table_difference(positions, table) == pytest.approx(0.25, abs=1e-6)
    with pytest.raises(ValueError, match="no positions"):
        table_difference(PositionalEncoding(dataclasses.replace(CONFIG, positions="none")), table)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_token_vectors_are_what_the_encoder_reads(positions: str) -> None:
    torch.manual_seed(0)
    model = Transformer(dataclasses.replace(CONFIG, positions=positions)).eval()
    vectors = token_vectors(model, (5, 6, 5))
    assert np.array_equal(vectors.embeddings[0], vectors.embeddings[2])
    assert np.array_equal(vectors.embeddings[0], (4.0 * model.src_embedding.weight[5]).detach().double().numpy())
    assert vectors.embedding_lengths[0] == pytest.approx(float(np.linalg.norm(vectors.embeddings[0])))
    assert len(vectors.position_lengths) == len(vectors.position_shares) == (0 if positions == "none" else 3)
    if positions == "sinusoidal":
        assert vectors.position_lengths == pytest.approx([8**0.5] * 3)
        assert vectors.position_shares[1] == pytest.approx(8**0.5 / vectors.embedding_lengths[1])


def test_a_shuffled_order_moves_something_and_leaves_the_end() -> None:
    for seed in range(20):
        order = shuffled_order(5, seed)
        assert sorted(order) == [0, 1, 2, 3, 4]
        assert order[-1] == 4
        assert order != (0, 1, 2, 3, 4)
        assert shuffled_order(5, seed) == order
    assert len({shuffled_order(6, seed) for seed in range(20)}) > 10
    assert shuffled_order(2, 1) == (0, 1)
