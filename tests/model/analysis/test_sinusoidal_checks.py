"""The rotations of the sinusoidal table, a model's own rows, and the vectors that a model reads."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from model.analysis import sinusoidal_checks
from model.analysis.sinusoidal_checks import check_rotation, table_difference
from model.analysis.token_vectors import token_vectors
from model.analysis.word_order import shuffled_order
from model.positions import PositionalEncoding, rotations, sinusoidal_table
from model.transformer import Transformer
from tests.tiny import tiny_config

CONFIG = tiny_config(max_positions=20)


def test_rotations_are_checked_and_a_wrong_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """That rows are rotations of earlier ones: test_position_schemes.py."""
    check = check_rotation(20, 16, 10_000.0, 3)
    assert check.largest_error < 1e-13
    assert check.angles[0] == pytest.approx(3)
    assert np.allclose(check.matrices[0] @ [math.sin(0), math.cos(0)], [math.sin(3), math.cos(3)])
    monkeypatch.setattr(sinusoidal_checks, "rotations", lambda offset, *rest: rotations(offset + 1, *rest))
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
