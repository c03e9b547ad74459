"""Recorders: taps that keep the tensors that pass and return them unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import AttentionKind
from model.points import HEAD_POINTS, Head, attention_scope, block_of


class AttentionRecorder:
    """Keeps the attention weights of every layer for one call, or for all calls of one decoding.

    Pass it as `tap=` and read it afterwards: `calls[kind, layer]` are the weights [batch, head, query, key] of each
    call. `details` names heads whose `HEAD_POINTS` are all kept: `details[head]` is one dictionary per call, with
    tensors [batch, query or key, …]. `output` there is the head's output before the gate and the output projection;
    `gate` is the head's part of the gate, if the model has one.
    """

    def __init__(self, *, details: Collection[Head] = ()) -> None:
        self.calls: dict[tuple[AttentionKind, int], list[Tensor]] = defaultdict(list)
        self.details: dict[Head, list[dict[str, Tensor]]] = {head: [] for head in details}
        self.wanted = None if details else frozenset({"weights"})  # see model.tap.wanted_points
        self._blocks = {attention_scope(kind, layer): (kind, layer) for kind, layer, _ in details}

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """Keep `tensor` if it is wanted; nothing writes into it later, so it is not copied."""
        if point.endswith(".weights"):
            self.calls[block_of(point)].append(tensor.detach())
        if self._blocks:
            scope, _, name = point.rpartition(".")
            if scope in self._blocks:
                self._keep_details(*self._blocks[scope], name, tensor.detach())
        return tensor

    def _keep_details(self, kind: AttentionKind, layer: int, name: str, tensor: Tensor) -> None:
        """Keep the part of each wanted head of one attention block."""
        for head, calls in self.details.items():
            if head[:2] != (kind, layer):
                continue
            if name in HEAD_POINTS or name == "bias":
                if name == HEAD_POINTS[0]:
                    calls.append({})
                calls[-1][name] = tensor[:, head[2]]
            elif name == "gate":  # of all heads side by side, [batch, query, d_model]
                calls[-1][name] = tensor.unflatten(-1, (-1, calls[-1]["output"].size(-1)))[..., head[2], :]

    def weights(self, kind: AttentionKind, row: int = 0) -> NDArray[np.float32]:
        """The recorded weights of one batch row as numbers.

        Shapes:
            returns: [layer, head, query, key] float32. A decoding step adds one query per call (and, in self-attention,
            one key): the rows are concatenated, and keys that did not exist yet are 0.

        Raises:
            ValueError: nothing of this kind was recorded.
        """
        layers = sorted(layer for recorded, layer in self.calls if recorded == kind)
        if not layers:
            raise ValueError(f"no {kind} attention was recorded; pass this recorder to the call that computes it.")
        # [layer, head, query, key]: all queries of the first call, and the newest query of each later one.
        blocks: list[Tensor] = []
        for weights in zip(*(self.calls[kind, layer] for layer in layers), strict=True):
            block = torch.stack([layer[row] for layer in weights])
            # A decoder that is not causal recomputes all rows; only the newest leads to its prediction.
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

    A later tensor at the same point, as in the next decoding step, replaces the earlier one.
    """

    def __init__(self, points: Collection[str] | None = None) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._points = None if points is None else frozenset(points)

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """Keep `tensor` if it is wanted."""
        if self._points is None or point in self._points:
            self.tensors[point] = tensor.detach()
        return tensor
