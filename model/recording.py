"""Recorders: taps that keep what passes and return it unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import AttentionKind
from model.points import HEAD_POINTS, SCOPES, Head, attention_scope


class AttentionRecorder:
    """Keeps the attention weights of every layer for one call, or for all calls of one decoding.

    Pass it as `tap=` and read it afterwards: `calls[kind, layer]` are the weights [batch, head, query, key] of each
    call. `details` names heads of which all of `HEAD_POINTS` is kept: `details[head]` is one dictionary per call, with
    tensors [batch, query or key, …]; `output` is the head's output before the output projection.
    """

    def __init__(self, *, details: Collection[Head] = ()) -> None:
        self.calls: dict[tuple[AttentionKind, int], list[Tensor]] = defaultdict(list)
        self.details: dict[Head, list[dict[str, Tensor]]] = {head: [] for head in details}
        self._heads: dict[str, list[Head]] = defaultdict(list)
        for kind, layer, head in self.details:
            self._heads[attention_scope(kind, layer)].append((kind, layer, head))

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """Keep `tensor` if it is wanted. Nothing writes into it later, so no copy is needed."""
        if self._heads or point.endswith(".weights"):
            scope, _, name = point.rpartition(".")
            if name == "weights":
                self.calls[_kind_and_layer(scope)].append(tensor.detach())
            if scope in self._heads and name in HEAD_POINTS:
                for site in self._heads[scope]:
                    if name == HEAD_POINTS[0]:
                        self.details[site].append({})
                    self.details[site][-1][name] = tensor.detach()[:, site[2]]
        return tensor

    def weights(self, kind: AttentionKind, row: int = 0) -> NDArray[np.float32]:
        """The recorded weights of one batch row as numbers.

        Shapes:
            returns: [layer, head, query, key] float32. A decoder that was stepped gained one query per call (and, in
            self-attention, one key): the rows are put together, and keys that a row could not see yet are 0.

        Raises:
            ValueError: nothing of this kind was recorded.
        """
        layers = sorted(layer for recorded, layer in self.calls if recorded == kind)
        if not layers:
            raise ValueError(f"no {kind} attention was recorded; pass this recorder to the call that computes it.")
        return np.stack([_join(self.calls[kind, layer], row) for layer in layers])


class PointRecorder:
    """Keeps the tensor at every point, or at the given `points`: `tensors[point]`, in the order of the computation.

    What is computed again, as in decoding, replaces its earlier tensor.
    """

    def __init__(self, points: Collection[str] | None = None) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._points = None if points is None else frozenset(points)

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """Keep `tensor` if it is wanted."""
        if self._points is None or point in self._points:
            self.tensors[point] = tensor.detach()
        return tensor


def _kind_and_layer(scope: str) -> tuple[AttentionKind, int]:
    """The kind and layer of an attention block, from what its points begin with."""
    stack, layer, block = scope.split(".")
    return _KINDS[stack, block], int(layer)


_KINDS: dict[tuple[str, str], AttentionKind] = {names: kind for kind, names in SCOPES.items()}


def _join(calls: list[Tensor], row: int) -> NDArray[np.float32]:
    """[head, query, key] of batch row `row`: the first call whole, then the newest query of each later call.

    (A decoder that is not causal computes all rows again at each step; the newest is the one behind its prediction.)
    """
    blocks = [calls[0][row], *(call[row, :, -1:] for call in calls[1:])]
    n_keys = max(block.size(-1) for block in blocks)
    padded = [torch.nn.functional.pad(block, (0, n_keys - block.size(-1))) for block in blocks]
    joined: NDArray[np.float32] = torch.cat(padded, dim=1).float().cpu().numpy()
    return joined
