"""Turn the head changes that a user asked for into edits of the model."""

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
    """Build the edits for these changes.

    `means` returns the mean output of heads over the sample, `other` the pattern or output of another sentence.

    Raises:
        EditError: a change is not valid. `other` may raise its own error for a sentence that does not fit.
    """
    mean_heads = [change.place for change in changes if change.op == "mean"]
    mean_outputs = means(mean_heads) if mean_heads else {}
    edits = []
    for change in changes:
        kind, layer, head = change.place
        values: NDArray[np.float32] | None = None
        if change.op == "mean":
            values = mean_outputs[change.place]
        elif change.op == "row":
            values = _padded(np.array(change.weights, dtype=np.float32) / np.float32(PARTS), config.max_positions)
        elif change.op == "pattern":
            values = _padded(other(change), config.max_positions)
        elif change.op == "output":
            values = other(change)
        row = change.row - 1 if change.op == "row" else None
        edits.append(HeadEdit(kind, layer, head, change.op, row=row, values=values))
    return HeadEdits(tuple(edits))


def _padded(values: NDArray[np.float32], n_keys: int) -> NDArray[np.float32]:
    """Pad the key axis with weight 0 to `n_keys`, so that the values fit decodings of any length."""
    missing = max(0, n_keys - values.shape[-1])
    padded: NDArray[np.float32] = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])
    return padded


def digest_of(edits: HeadEdits) -> str:
    """A hash of edits and their values."""
    digest = hashlib.sha256()
    for edit in edits.edits:
        digest.update(f"{edit}|".encode())
        if edit.values is not None:
            values = np.ascontiguousarray(edit.values, dtype=np.float32)
            digest.update(f"{values.shape}".encode() + values.tobytes())
    return digest.hexdigest()[:16]
