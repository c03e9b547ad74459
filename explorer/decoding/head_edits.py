"""The edits that a model is given for the changes to heads that a person asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.head_change import PARTS, Change, Changes
from model.config import ModelConfig
from model.edits import HeadEdit, HeadEdits
from model.points import Head

Means = Callable[[Sequence[Head]], dict[Head, NDArray[np.float32]]]
Other = Callable[[Change], NDArray[np.float32]]


def edits_for(changes: Changes, config: ModelConfig, means: Means, other: Other) -> HeadEdits:
    """The edits that the model is given.

    `means` gives the mean output of heads over the sample, `other` the pattern or output of another sentence.

    Raises:
        EditError: a change makes no sense. And what `other` raises where it does not fit this sentence.
    """
    averaged = [change.place for change in changes if change.op == "mean"]
    known = means(averaged) if averaged else {}
    made = []
    for change in changes:
        kind, layer, head = change.place
        values: NDArray[np.float32] | None = None
        if change.op == "mean":
            values = known[change.place]
        elif change.op == "row":
            values = _wide(np.array(change.weights, dtype=np.float32) / np.float32(PARTS), config.max_positions)
        elif change.op == "pattern":
            values = _wide(other(change), config.max_positions)
        elif change.op == "output":
            values = other(change)
        row = change.row - 1 if change.op == "row" else None
        made.append(HeadEdit(kind, layer, head, change.op, row=row, values=values))
    return HeadEdits(tuple(made))


def _wide(values: NDArray[np.float32], n_keys: int) -> NDArray[np.float32]:
    """With keys of weight 0 after the last, so that it fits a decoding that goes on for longer."""
    missing = max(0, n_keys - values.shape[-1])
    wide: NDArray[np.float32] = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])
    return wide


def digest_of(edits: HeadEdits) -> str:
    """A name for some edits, with their values: equal for equal edits."""
    digest = hashlib.sha256()
    for edit in edits.edits:
        digest.update(f"{edit}|".encode())
        if edit.values is not None:
            values = np.ascontiguousarray(edit.values, dtype=np.float32)
            digest.update(f"{values.shape}".encode() + values.tobytes())
    return digest.hexdigest()[:16]
