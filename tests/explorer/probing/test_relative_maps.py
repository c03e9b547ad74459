"""Maps by relative position against weight moved token by token."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.probing.pattern_shares import relative_map, shares_of_bins


@pytest.mark.parametrize(("n", "bins"), [(1, 4), (3, 4), (4, 4), (9, 4), (25, 12)])
def test_all_weight_arrives(n: int, bins: int) -> None:
    rng = np.random.default_rng(n)
    weights = rng.random((2, n, n + 1))
    weights /= weights.sum(-1, keepdims=True)
    found = relative_map(weights, bins)
    assert found.shape == (2, bins, bins)
    assert np.allclose(found.sum(-1), 1)
    fine = 5040  # parts so small that each lies in one token and one bin
    at = [int((i + 0.5) / fine * n) for i in range(fine)]
    expected = np.zeros((bins, bins))
    for q in range(bins):
        rows = [at[i] for i in range(q * fine // bins, (q + 1) * fine // bins)]
        row = weights[0, rows].mean(axis=0)
        for key, weight in enumerate(row):
            inside = [int((i + 0.5) / fine * bins) for i in range(key * fine // (n + 1), (key + 1) * fine // (n + 1))]
            for k in inside:
                expected[q, k] += weight / len(inside)
    assert np.allclose(found[0], expected, atol=2e-3)


def test_the_diagonal_stays_the_diagonal() -> None:
    assert np.allclose(relative_map(np.eye(4), 4), np.eye(4))
    assert np.allclose(relative_map(np.eye(8), 4), np.eye(4))
    assert np.allclose(shares_of_bins(3, 12).sum(axis=0), 1)
