"""Edits: taps that change the tensors that pass through them.

:class:`HeadEdits` describes changes to heads; its `tap` applies them to one decoding. :func:`patch` applies a function
to any point of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.dry_run import points
from model.nearest import nearest
from model.points import attention_scope
from model.tap import Tap
from model.user_error import UserError
from model.wording import later

Operation = Literal["zero", "uniform", "mean", "row", "pattern", "output", "position"]


class EditError(UserError):
    """An edit that cannot be applied; the message says why."""


@dataclass(frozen=True, eq=False)
class HeadEdit:
    """One change to one head (layer and head counted from 0), for a whole decoding.

    zero: the head contributes nothing. uniform: it attends equally to every key that it may see.
    mean: its output before W_O is `values` [d_head] at every position (its mean over a sample).
    row: the weights of query `row` become `values` [key]; pattern: all its weights become `values` [query, key];
    both non-negative, set to 0 where masked, and renormalised. output: its output becomes `values` [query, d_head].
    Queries beyond the end of a pattern or output keep what the model computed.
    position: token `row` of the source (kind "encoder") or target ("decoder") stands at position `to`; `values`
    [d_model] is the difference between the vectors of the two positions. Layer and head do not count.

    Raises:
        EditError: an operation without the values it needs, or with values that cannot be weights.
    """

    kind: AttentionKind
    layer: int
    head: int
    op: Operation
    row: int | None = None
    values: NDArray[np.float32] | None = field(default=None, repr=False)
    to: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in ATTENTION_KINDS:
            raise EditError(
                "kind is one of {attention_kinds}, not {kind}.",
                attention_kinds=", ".join(ATTENTION_KINDS),
                kind=repr(self.kind),
            )
        axes_of_values = {"zero": None, "uniform": None, "mean": 1, "row": 1, "pattern": 2, "output": 2, "position": 1}
        if self.op not in axes_of_values:
            raise EditError(
                "op is one of {axes_of_values}, not {op}.", axes_of_values=", ".join(axes_of_values), op=repr(self.op)
            )
        dimensions = axes_of_values[self.op]
        if dimensions is None:
            return
        if self.values is None or np.ndim(self.values) != dimensions:
            raise EditError("'{op}' needs values with {dimensions} axis/axes.", op=self.op, dimensions=dimensions)
        if not np.all(np.isfinite(self.values)):
            raise EditError("the values of '{op}' must be finite numbers.", op=self.op)
        if self.op in ("row", "pattern") and (np.min(self.values, initial=0.0) < 0):
            raise EditError("attention weights cannot be negative.")
        if self.op == "row" and (self.row is None or self.row < 0):
            raise EditError("'row' needs the query row that it replaces, counted from 0.")
        if self.op == "position" and (self.kind == "cross" or self.row is None or self.to is None):
            raise EditError("'position' needs a token of the source or target, and the position where it stands.")

    @property
    def scope(self) -> str:
        """The beginning of the names of the points that it changes."""
        if self.op == "position":
            return "src" if self.kind == "encoder" else "tgt"
        return attention_scope(self.kind, self.layer)

    def __str__(self) -> str:
        if self.row is not None and self.to is not None:
            return f"{'source' if self.kind == 'encoder' else 'target'} token {self.row + 1} at position {self.to + 1}"
        where = f" row {self.row + 1}" if self.row is not None else ""
        return f"{self.kind} layer {self.layer + 1} head {self.head + 1}: {self.op}{where}"


@dataclass(frozen=True)
class HeadEdits:
    """Any number of head edits, which hold for a whole decoding."""

    edits: tuple[HeadEdit, ...] = ()

    def tap(self, config: ModelConfig) -> Tap:
        """A tap that applies the edits; make one per decoding and pass it to `start` and to every `step`.

        Raises:
            EditError: an edit names a layer or head that a model of this configuration does not have.
        """
        self.check(config)
        return _EditTap(self.edits)

    def check(self, config: ModelConfig) -> None:
        """Raise an EditError if an edit names a layer or head that a model of this configuration does not have."""
        for edit in self.edits:
            if edit.op == "position":
                continue
            n_layers, n_heads = config.n_layers(edit.kind), config.n_heads(edit.kind)
            if not 0 <= edit.layer < n_layers:
                raise EditError(
                    "{edit}: this model has {layers} of {kind} attention.",
                    edit=edit,
                    layers=later("{n} layer", "{n:,} layers", n=n_layers),
                    kind=edit.kind,
                )
            if not 0 <= edit.head < n_heads:
                raise EditError(
                    "{edit}: this layer has {heads}.", edit=edit, heads=later("{n} head", "{n:,} heads", n=n_heads)
                )

    def describe(self) -> tuple[str, ...]:
        """A line per edit, counted from 1 as on screen."""
        return tuple(str(edit) for edit in self.edits)


def edit_tap(edits: HeadEdits | None, config: ModelConfig) -> Tap | None:
    """The tap of `edits`, or None if there are none; raises as :meth:`HeadEdits.tap`."""
    return None if edits is None else edits.tap(config)


def patch(config: ModelConfig, changes: Mapping[str, Callable[[Tensor], Tensor]]) -> Tap:
    """A tap that applies a function to the tensor at each named point and leaves all other tensors unchanged.

    Raises:
        EditError: a model of this configuration has no point of that name.
    """
    names = {point.name for point in points(config)}
    for name in changes:
        if name not in names:
            raise EditError("this model has no point '{name}'. {nearest}", name=name, nearest=nearest(name, names))

    def patched(point: str, tensor: Tensor) -> Tensor:
        change = changes.get(point)
        return tensor if change is None else change(tensor)

    return patched


class _EditTap:
    """Applies head edits; earlier points tell which keys are visible and at which positions the queries are.

    The target ids read so far pass at `tgt.tokens` before any decoder layer runs, and the queries of a decoder layer
    are the last of them. A mask, if there is one, passes before the weights that it affects.
    """

    def __init__(self, edits: tuple[HeadEdit, ...]) -> None:
        self._edits: dict[str, tuple[HeadEdit, ...]] = {}
        for edit in edits:
            self._edits[edit.scope] = (*self._edits.get(edit.scope, ()), edit)
        self._n_read = 0
        self._mask: Tensor | None = None

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        if point == "tgt.tokens":
            self._n_read = tensor.size(1)
        scope, _, name = point.rpartition(".")
        for edit in self._edits.get(scope, ()):
            if name == "scores":
                self._mask = None
            elif name == "mask":
                self._mask = tensor
            elif name == "weights" and edit.op in ("uniform", "row", "pattern"):
                tensor = _edited_weights(edit, tensor, self._mask, self._first_query(edit, tensor))
            elif name == "output" and edit.op in ("zero", "mean", "output"):
                tensor = _edited_output(edit, tensor, self._first_query(edit, tensor))
            elif name == "positions" and edit.op == "position":
                tensor = _moved(edit, tensor, self._first_query(edit, tensor))
        return tensor

    def _first_query(self, edit: HeadEdit, tensor: Tensor) -> int:
        """The position of the first row of `tensor`, [batch, …, row, number]."""
        return 0 if edit.kind == "encoder" else self._n_read - tensor.size(-2)


def _edited_weights(edit: HeadEdit, weights: Tensor, mask: Tensor | None, offset: int) -> Tensor:
    """A copy of the weights [batch, head, query, key] with the edit applied; queries count from `offset`."""
    original = weights[:, edit.head]
    seen = torch.ones_like(original, dtype=torch.bool) if mask is None else mask.expand(weights.shape)[:, edit.head]
    rows = _replacement(edit, original, seen, offset).masked_fill(~seen, 0.0)  # [batch, query, key]
    total = rows.sum(dim=-1, keepdim=True)
    empty = total.squeeze(-1) == 0
    if bool((empty & (original.sum(-1) > 0)).any()):
        raise EditError("{edit}: a row has no weight left on any key that it may see.", edit=edit)
    changed = weights.clone()
    changed[:, edit.head] = rows / total.masked_fill(total == 0, 1.0)
    return changed


def _replacement(edit: HeadEdit, original: Tensor, seen: Tensor, offset: int) -> Tensor:
    """The head's rows [batch, query, key] with the edit applied, not yet masked and normalised.

    The edit may lack weights for keys that are not `seen`, such as those that were not read when it was made.
    """
    if edit.op == "uniform":
        return torch.ones_like(original)
    rows = original.clone()
    n_keys = original.size(-1)
    values = torch.as_tensor(edit.values, dtype=original.dtype, device=original.device)
    pattern = values[None] if edit.op == "row" else values
    first = edit.row if edit.op == "row" and edit.row is not None else 0
    for i in range(original.size(-2)):
        source = offset + i - first
        if not 0 <= source < pattern.size(0):
            continue
        missing = n_keys - pattern.size(-1)
        if missing > 0 and bool(seen[:, i, -missing:].any()):
            raise EditError(
                "{edit}: it has weights for {keys}, not for {n_keys}.",
                edit=edit,
                keys=later("{n} key", "{n:,} keys", n=pattern.size(-1)),
                n_keys=n_keys,
            )
        rows[:, i] = F.pad(pattern[source], (0, missing))  # a negative number cuts keys off
    return rows


def _edited_output(edit: HeadEdit, output: Tensor, offset: int) -> Tensor:
    """A copy of the head outputs [batch, head, query, d_head] with the edit applied; queries count from `offset`."""
    changed = output.clone()
    if edit.op == "zero":
        changed[:, edit.head] = 0.0
        return changed
    values = torch.as_tensor(edit.values, dtype=output.dtype, device=output.device)
    if values.size(-1) != output.size(-1):
        raise EditError(
            "{edit}: its vectors have {numbers} numbers, but the head's {needed}.",
            edit=edit,
            numbers=values.size(-1),
            needed=output.size(-1),
        )
    if edit.op == "mean":
        changed[:, edit.head] = values
        return changed
    for i in range(min(output.size(-2), values.size(0) - offset)):
        changed[:, edit.head, i] = values[offset + i]
    return changed


def _moved(edit: HeadEdit, vectors: Tensor, offset: int) -> Tensor:
    """A copy of the vectors [batch, token, d_model] with one token at another position; tokens count from `offset`."""
    row = (edit.row or 0) - offset
    if not 0 <= row < vectors.size(1):
        return vectors
    changed = vectors.clone()
    changed[:, row] += torch.as_tensor(edit.values, dtype=vectors.dtype, device=vectors.device)
    return changed
