"""How similar heads are: Jensen–Shannon divergence of their rows, and a map with similar heads close together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.entropy import entropy

Scores = NDArray[np.float64]


def divergences(weights: NDArray[np.floating], rows: NDArray[np.bool_]) -> Scores:
    """Mean Jensen–Shannon divergence of every pair of heads over the given rows, in bits: 0 identical, 1 disjoint.

    JSD(p, q) = H((p + q) / 2) - H(p) / 2 - H(q) / 2 (Lin 1991; between heads: Clark et al. 2019, §6).

    Shapes: weights [layer, head, query, key]; returns [head, head], all layers in a row; NaN without any rows.
    """
    flat = weights.reshape(-1, *weights.shape[2:])[:, rows].astype(np.float64)  # [head, row, key]
    n = len(flat)
    if not rows.any():
        return np.full((n, n), np.nan)
    own = entropy(flat)  # [head, row]
    upper = np.zeros((n, n))
    for i in range(n - 1):
        mixed = entropy((flat[i] + flat[i + 1 :]) / 2)
        upper[i, i + 1 :] = (mixed - own[i] / 2 - own[i + 1 :] / 2).mean(axis=-1) / np.log(2)
    upper = np.maximum(upper, 0.0)  # rounding may leave values slightly below 0
    both: Scores = upper + upper.T
    return both


def head_map(similarity: Scores) -> Scores:
    """A point in the plane for each head, with distances as close to √JSD as two dimensions allow.

    √JSD is a metric (Endres & Schindelin 2003). Classical multidimensional scaling (Torgerson 1952): the two leading
    eigenvectors of -½ J D² J, J = I - 1/n, times the roots of their eigenvalues.

    Shapes: similarity [head, head] in bits; returns [head, 2].
    """
    n = len(similarity)
    if n == 0 or not np.isfinite(similarity).all():
        return np.zeros((n, 2))
    centre = np.eye(n) - 1 / n
    products = -0.5 * centre @ similarity @ centre  # D² of √JSD is JSD itself
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    leading = np.argsort(values)[::-1][:2]
    points = vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0.0))
    # An eigenvector's sign is arbitrary: the largest coordinate of each axis is made positive.
    signs = np.sign(points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])])
    points = points * np.where(signs == 0, 1.0, signs)
    return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def most_alike(similarity: Scores, head: int, count: int = 3) -> list[tuple[int, float]]:
    """The heads (by index among all heads of the kind) most similar to one, with their divergence in bits.

    The most similar comes first; empty where nothing is known.
    """
    order = [
        int(i) for i in np.argsort(similarity[head], kind="stable") if i != head and np.isfinite(similarity[head, i])
    ]
    return [(i, float(similarity[head, i])) for i in order[:count]]
