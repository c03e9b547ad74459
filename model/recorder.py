"""What one call of the model did, kept by a plain object that was handed down to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.attention import Note
from model.config import AttentionKind

Head = tuple[AttentionKind, int, int]
BLOCKS: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("encoder", "self_attn"),
    "decoder": ("decoder", "self_attn"),
    "cross": ("decoder", "cross_attn"),
}
DETAILS = ("query", "key", "value", "scores", "masked", "weights", "output")


class AttentionRecorder:
    """Keeps the attention weights of every layer for one call, or for the calls of one decoding.

    Make one, pass it as `record=`, read it afterwards; it belongs to nobody else, so sessions that share a model
    cannot see each other's. `details` names heads (kind, layer, head), counted from 0, of which everything is kept:
    query, key, value, scores, masked scores, weights, and the head's output before the output projection.

    With `operations`, everything that the model computes is kept too, in the order in which it was computed, under the
    name of the module that computed it: `encoder.layers.0.self_attn.q_proj` is what that projection put out, and
    `encoder.layers.0.self_attn.scores` what attention computed between its projections. What runs again, as in
    decoding, takes the place of its earlier result.
    """

    def __init__(self, *, details: Collection[Head] = (), operations: bool = False) -> None:
        self.operations: dict[str, Tensor] | None = {} if operations else None
        self.calls: dict[tuple[AttentionKind, int], list[Tensor]] = defaultdict(list)
        self.details: dict[Head, list[dict[str, Tensor]]] = {head: [] for head in details}
        self._detailed = {(kind, layer) for kind, layer, _ in self.details}

    def at(self, kind: AttentionKind, layer: int) -> Callable[..., None]:
        """The callable that attention of this kind and layer reports to."""
        kept = self.calls[kind, layer]

        stack, block = BLOCKS[kind]
        note = self.noting(f"{stack}.layers.{layer}.{block}.")

        def record(*, weights: Tensor, **rest: Tensor) -> None:
            kept.append(weights.detach())  # nothing writes into it later, so the tensor itself will do
            if note is not None:
                for name in DETAILS:
                    note(name, weights if name == "weights" else rest[name])
            if (kind, layer) in self._detailed:
                self._keep_details(kind, layer, weights=weights, **rest)

        return record

    def noting(self, prefix: str) -> Note | None:
        """Where a module reports its operations, with `prefix` before their names; None if nobody asked for them."""
        if self.operations is None:
            return None
        return lambda name, tensor: self.note(prefix + name, tensor)

    def note(self, name: str, tensor: Tensor) -> None:
        """Keep the result of one operation, if operations are asked for."""
        if self.operations is not None:
            self.operations[name] = tensor.detach()

    def _keep_details(self, kind: AttentionKind, layer: int, **tensors: Tensor) -> None:
        for (wanted_kind, wanted_layer, head), kept in self.details.items():
            if (wanted_kind, wanted_layer) == (kind, layer):
                kept.append({name: tensor.detach()[:, head] for name, tensor in tensors.items()})

    def weights(self, kind: AttentionKind, row: int = 0) -> NDArray[np.float32]:
        """The recorded weights of one batch row as numbers.

        Shapes:
            returns: [layer, head, query, key] float32. A decoder that was stepped grew by one query a call (and, for
            self-attention, by one key): the rows are put together, and keys that a row could not see yet are 0.

        Raises:
            ValueError: nothing of this kind was recorded.
        """
        layers = sorted(layer for recorded, layer in self.calls if recorded == kind)
        if not layers or not self.calls[kind, layers[0]]:
            raise ValueError(f"no {kind} attention was recorded; pass this recorder to the call that computes it.")
        return np.stack([_join(self.calls[kind, layer], row) for layer in layers])


def _join(calls: list[Tensor], row: int) -> NDArray[np.float32]:
    """[head, query, key] of batch row `row`: the first call whole, then the newest query of each later call.

    (A decoder that is not causal recomputes all rows at each step; the newest is the one that its prediction used.)
    """
    blocks = [calls[0][row], *(call[row, :, -1:] for call in calls[1:])]
    n_keys = max(block.size(-1) for block in blocks)
    padded = [torch.nn.functional.pad(block, (0, n_keys - block.size(-1))) for block in blocks]
    joined: NDArray[np.float32] = torch.cat(padded, dim=1).float().cpu().numpy()
    return joined
