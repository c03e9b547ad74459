"""Recorders: taps that keep what passes and return it unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import AttentionKind
from model.points import HEAD_POINTS, SCOPES, Head
from model.tap import ScopedTap, Tap, through


class AttentionRecorder(ScopedTap):
    """Keeps the attention weights of every layer for one call, or for all calls of one decoding.

    Pass it as `tap=` and read it afterwards: `calls[kind, layer]` are the weights [batch, head, query, key] of each
    call. `details` names heads of which all of `HEAD_POINTS` is kept: `details[head]` is one dictionary per call, with
    tensors [batch, query or key, …]; `output` is the head's output before the output projection, and before the gate,
    of which the head's part is kept where there is one.
    """

    def __init__(self, *, details: Collection[Head] = ()) -> None:
        self.calls: dict[tuple[AttentionKind, int], list[Tensor]] = defaultdict(list)
        self.details: dict[Head, list[dict[str, Tensor]]] = {head: [] for head in details}
        self._parts: dict[str, Tap | None] = {}

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """Keep `tensor` if it is wanted, at a point named in full."""
        scope, _, name = point.rpartition(".")
        return through(self.within(scope), name, tensor)

    def within(self, scope: str | int) -> Tap | None:
        """The tap for the part of the model that is named in full; None where there is no attention in it."""
        scope = str(scope)
        if scope not in self._parts:
            self._parts[scope] = self._part(*scope.split("."))
        return self._parts[scope]

    def _part(self, stack: str, layer: str = "", block: str = "") -> Tap | None:
        """The tap for a whole stack, for one of its layers, or for one block of a layer."""
        if stack not in ("encoder", "decoder"):
            return None
        if not block:
            return _Outside(self, f"{stack}.{layer}" if layer else stack)
        kind = _KINDS.get((stack, block))
        return None if kind is None else self._block(kind, int(layer))

    def _block(self, kind: AttentionKind, layer: int) -> Tap:
        """The tap for one attention block. Nothing writes into what passes later, so no copies are kept."""
        heads = [head for head in self.details if head[:2] == (kind, layer)]

        def keep_weights(point: str, tensor: Tensor) -> Tensor:
            if point == "weights":
                self.calls[kind, layer].append(tensor.detach())
            return tensor

        def keep_details(point: str, tensor: Tensor) -> Tensor:
            for head in heads if point in HEAD_POINTS or point == "bias" else ():
                if point == HEAD_POINTS[0]:
                    self.details[head].append({})
                self.details[head][-1][point] = tensor.detach()[:, head[2]]
            for head in heads if point == "gate" else ():  # of all heads side by side, [batch, query, d_model]
                kept, width = self.details[head][-1], self.details[head][-1]["output"].size(-1)
                kept[point] = tensor.detach()[..., head[2] * width : (head[2] + 1) * width]
            return keep_weights(point, tensor)

        return keep_details if heads else keep_weights

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
        blocks: list[
            Tensor
        ] = []  # [layer, head, query, key]: all of the first call, and the newest query of each later one
        for weights in zip(*(self.calls[kind, layer] for layer in layers), strict=True):
            block = torch.stack([layer[row] for layer in weights])
            # A decoder that is not causal computes all rows again; the newest is behind its prediction.
            blocks.append(block[:, :, -1:] if blocks else block)
        n_queries, n_keys = sum(block.size(2) for block in blocks), max(block.size(3) for block in blocks)
        joined = np.zeros((len(layers), blocks[0].size(1), n_queries, n_keys), dtype=np.float32)
        first = 0
        for block in blocks:
            end = first + block.size(2)
            joined[:, :, first:end, : block.size(3)] = block.float().cpu().numpy()
            first = end
        return joined


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


class _Outside(ScopedTap):
    """The recorder between attention blocks, where nothing is kept: in a stack, or in a layer."""

    def __init__(self, recorder: AttentionRecorder, scope: str) -> None:
        self._recorder = recorder
        self._scope = scope

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        return tensor

    def within(self, scope: str | int) -> Tap | None:
        return self._recorder.within(f"{self._scope}.{scope}")


_KINDS: dict[tuple[str, str], AttentionKind] = {names: kind for kind, names in SCOPES.items()}
