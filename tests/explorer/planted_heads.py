"""A trace whose heads have roles by construction: each looks at a fixed position relative to its query."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from model.trace import AttentionTrace
from tests.explorer.planted import planted_trace

Place = Callable[[int, int, int], int]  # query, number of queries, number of keys → key

ENCODER: dict[str, Place] = {
    "itself": lambda q, n, m: q,
    "previous": lambda q, n, m: max(q - 1, 0),
    "next": lambda q, n, m: min(q + 1, m - 1),
    "first": lambda q, n, m: 0,
}
DECODER: dict[str, Place] = {name: ENCODER[name] for name in ("itself", "previous", "first")}
CROSS: dict[str, Place] = {
    "diagonal": lambda q, n, m: q,
    "mirror": lambda q, n, m: m - 2 - q if q < n - 1 else m - 1,
    "first": lambda q, n, m: 0,
    "last": lambda q, n, m: m - 1,
}
SOURCE = ("the", "cat", "saw", "the", "dog", "<eos>")
TARGET = ("<sos>", "der", "hund", "sah", "die", "katze")


def heads_trace(source: Sequence[str] = SOURCE, target: Sequence[str] = TARGET) -> AttentionTrace:
    """One layer of each kind; head h (from 1) has the h-th role of ENCODER, DECODER, CROSS; then a uniform head.

    Source and target must be equally long for the diagonal to be one.
    """
    trace = planted_trace(source, target, layers=(1, 1))
    changes = {}
    for kind, roles in (("encoder", ENCODER), ("decoder", DECODER), ("cross", CROSS)):
        n, m = getattr(trace, kind).shape[2:]
        visible = getattr(trace, f"{kind}_mask") == 0
        weights = np.zeros((1, len(roles) + 1, n, m), dtype=np.float32)
        for head, place in enumerate(roles.values()):
            for query in range(n):
                weights[0, head, query, place(query, n, m)] = 1
        weights[0, -1] = visible / visible.sum(axis=-1, keepdims=True)
        changes[kind] = weights
    return dataclasses.replace(trace, **changes)


def random_trace(
    source: Sequence[str],
    target: Sequence[str],
    *,
    layers: tuple[int, int] = (2, 3),
    heads: tuple[int, int] = (4, 2),
    seed: int = 7,
) -> AttentionTrace:
    """Random rows that sum to 1 over visible keys; the stacks differ in depth and head count."""
    trace = planted_trace(source, target, layers=layers, heads=heads)
    noise, changes = np.random.default_rng(seed), {}
    for kind in ("encoder", "decoder", "cross"):
        scores = np.exp(3 * noise.standard_normal(getattr(trace, kind).shape)) * (getattr(trace, f"{kind}_mask") == 0)
        changes[kind] = (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float32)
    return dataclasses.replace(trace, **changes)
