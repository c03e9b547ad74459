"""Turn the head changes that a user asked for into edits of the model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.head_change import PARTS, Change, Changes
from model.config import ModelConfig
from model.edits import EditError, HeadEdit, HeadEdits
from model.points import Head
from model.transformer import Transformer

Means = Callable[[Sequence[Head]], dict[Head, NDArray[np.float32]]]
Other = Callable[[Change], NDArray[np.float32]]


def edits_for(changes: Changes, config: ModelConfig, means: Means, other: Other) -> HeadEdits:
    """Build the edits for these changes.

    `means` returns the mean output of heads over the sample, `other` the pattern or output of another sentence, or
    what a moved token's vector changes by.

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
        elif change.op in ("output", "position"):
            values = other(change)
        row, to = (number - 1 if number else None for number in (change.row, change.to))
        edits.append(HeadEdit(kind, layer, head, change.op, row=row, values=values, to=to))
    return HeadEdits(tuple(edits))


def moved_by(model: Transformer, change: Change) -> NDArray[np.float32]:
    """What the vector of a moved token changes by [d_model]: the vector of its new position less that of its own.

    Raises:
        EditError: the model has no vector for one of the positions.
    """
    positions = model.positions_src if change.kind == "encoder" else model.positions_tgt
    try:
        table = positions.table(max(change.row, change.to))
    except ValueError as error:
        raise EditError(error) from error
    if table is None:
        raise EditError("this model adds no positions.")
    moved: NDArray[np.float32] = (table[change.to - 1] - table[change.row - 1]).detach().float().numpy()
    return moved


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
