"""A recorded run in float64, and the linear steps that decompose its vectors into sums.

:mod:`model.dry_run` says which module computes a point, and from which other points.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from model.dry_run import Point, points
from model.recording import PointRecorder
from model.tap import Tap, compose
from model.transformer import Transformer


class RecordedRun:
    """One sentence pair read by a model: the points of the run, their tensors without the batch axis, their modules.

    Shapes: src: ids with <eos>; read: ids that the decoder reads, <sos> first. `tap` may edit the model.
    """

    def __init__(self, model: Transformer, src: Sequence[int], read: Sequence[int], tap: Tap | None = None) -> None:
        recorder = PointRecorder()
        model(torch.tensor([list(src)], dtype=torch.long), torch.tensor([list(read)]), tap=compose(tap, recorder))
        self._model = model
        self.points: dict[str, Point] = {point.name: point for point in points(model.config)}
        self.tensors: dict[str, Tensor] = {name: tensor[0].double() for name, tensor in recorder.tensors.items()}

    def module(self, point: str) -> nn.Module | None:
        """The module that computes a point; None for plain arithmetic."""
        path = self.points[point].module
        return self._model.get_submodule(path) if path else None

    def by_head(self, scope: str) -> Tensor:
        """The output projection W_O of an attention block, split by head: [d_model, head, d_head]."""
        projection = self.module(f"{scope}.out_proj")
        assert isinstance(projection, nn.Linear)
        return projection.weight.double().unflatten(1, (len(self.tensors[f"{scope}.value"]), -1))

    def gate(self, scope: str) -> Tensor | None:
        """The gate that multiplies the heads' outputs before W_O, [query, head, d_head]; None if there is none."""
        gate = self.tensors.get(f"{scope}.gate")
        return None if gate is None else gate.unflatten(1, (len(self.tensors[f"{scope}.value"]), -1))

    def written(self, scope: str) -> Tensor:
        """The vector that each key adds to each query, Σ_h α f(x) (Kobayashi et al. 2020, eq. 5): [query, key, d]."""
        weights, values = self.tensors[f"{scope}.weights"], self.tensors[f"{scope}.value"]
        gate = self.gate(scope)
        if gate is None:
            return torch.einsum("hqk,hkd,ohd->qko", weights, values, self.by_head(scope))
        return torch.einsum("hqk,hkd,qhd,ohd->qko", weights, values, gate, self.by_head(scope))


def held_norm(norm: nn.LayerNorm, vectors: Tensor, x: Tensor) -> Tensor:
    """Apply a layer norm to parts of its input x, with the statistics of x and without the shift β.

    LayerNorm(x) = γ (x - mean) / σ + β, and the mean of a sum is the sum of the means.

    Shapes: x: [position, d_model]; vectors: the same, or with more axes in front; returns the shape of `vectors`.
    """
    deviation = (x.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    return (vectors - vectors.mean(dim=-1, keepdim=True)) / deviation * norm.weight.double()
