"""Head surgery as a value: what to change in which head, handed to the model like a recorder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig

Operation = Literal["zero", "uniform", "mean", "row", "pattern", "output"]


class EditError(ValueError):
    """A head edit that makes no sense; the message says why."""


@dataclass(frozen=True, eq=False)
class HeadEdit:
    """One change to one head (layer and head counted from 0), for a whole decoding.

    zero: the head contributes nothing. uniform: it looks everywhere it may, equally.
    mean: its output before W_O is `values` [d_head] at every position (its mean over a sample).
    row: its query row `row` becomes `values` [key]; pattern: all its rows become `values` [query, key];
    both non-negative, set to 0 where masked, and renormalised. output: its output rows become `values` [query, d_head].
    Rows beyond the end of a pattern or output stay the model's own.

    Raises:
        EditError: an operation without the values it needs, or with values that cannot be weights.
    """

    kind: AttentionKind
    layer: int
    head: int
    op: Operation
    row: int | None = None
    values: NDArray[np.float32] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in ATTENTION_KINDS:
            raise EditError(f"kind is one of {', '.join(ATTENTION_KINDS)}, not {self.kind!r}.")
        wanted = {"zero": None, "uniform": None, "mean": 1, "row": 1, "pattern": 2, "output": 2}
        if self.op not in wanted:
            raise EditError(f"op is one of {', '.join(wanted)}, not {self.op!r}.")
        dimensions = wanted[self.op]
        if dimensions is None:
            return
        if self.values is None or np.ndim(self.values) != dimensions:
            raise EditError(f"'{self.op}' needs values with {dimensions} axis/axes.")
        if not np.all(np.isfinite(self.values)):
            raise EditError(f"the values of '{self.op}' must be finite numbers.")
        if self.op in ("row", "pattern") and (np.min(self.values, initial=0.0) < 0):
            raise EditError("attention weights cannot be negative.")
        if self.op == "row" and (self.row is None or self.row < 0):
            raise EditError("'row' needs the query row that it replaces, counted from 0.")

    def __str__(self) -> str:
        where = f" row {self.row + 1}" if self.row is not None else ""
        return f"{self.kind} layer {self.layer + 1} head {self.head + 1}: {self.op}{where}"


@dataclass(frozen=True)
class HeadEdits:
    """Any number of head edits; pass it as `edit=` to `start` and to every `step` of one decoding."""

    edits: tuple[HeadEdit, ...] = ()

    def at(self, kind: AttentionKind, layer: int, offset: int = 0) -> SiteEdit | None:
        """The edits of one attention layer for queries that start at position `offset`; None if it has none."""
        here = tuple(edit for edit in self.edits if edit.kind == kind and edit.layer == layer)
        return SiteEdit(here, offset) if here else None

    def check(self, config: ModelConfig) -> None:
        """Refuse edits of layers and heads that a model does not have.

        Raises:
            EditError: there is one.
        """
        for edit in self.edits:
            n_layers, n_heads = config.n_layers(edit.kind), config.n_heads(edit.kind)
            if not 0 <= edit.layer < n_layers:
                raise EditError(f"{edit}: this model has {n_layers} layers of {edit.kind} attention.")
            if not 0 <= edit.head < n_heads:
                raise EditError(f"{edit}: this layer has {n_heads} heads.")

    def describe(self) -> tuple[str, ...]:
        """A line per edit, counted from 1 as on screen."""
        return tuple(str(edit) for edit in self.edits)


@dataclass(frozen=True)
class SiteEdit:
    """What attention calls: the edits of its own layer."""

    edits: tuple[HeadEdit, ...]
    offset: int

    def weights(self, weights: Tensor, mask: Tensor | None) -> Tensor:
        """Edited weights [batch, head, query, key]; the given tensor is left alone."""
        changed = weights
        for edit in self.edits:
            if edit.op not in ("uniform", "row", "pattern"):
                continue
            _check_head(edit, weights)
            if changed is weights:
                changed = weights.clone()
            rows = self._replacement(edit, weights[:, edit.head])  # [batch, query, key]
            if mask is not None:
                visible = mask.expand(weights.shape)[:, edit.head]
                rows = rows.masked_fill(~visible, 0.0)
            total = rows.sum(dim=-1, keepdim=True)
            blind = total.squeeze(-1) == 0
            if bool((blind & (weights[:, edit.head].sum(-1) > 0)).any()):
                raise EditError(f"{edit}: a row has no weight left on any key that it may see.")
            changed[:, edit.head] = rows / total.masked_fill(total == 0, 1.0)
        return changed

    def _replacement(self, edit: HeadEdit, own: Tensor) -> Tensor:
        """The unnormalised rows [batch, query, key] that `edit` puts in place of the head's `own`."""
        if edit.op == "uniform":
            return torch.ones_like(own)
        rows = own.clone()
        n_keys = own.size(-1)
        values = torch.as_tensor(edit.values, dtype=own.dtype, device=own.device)
        pattern = values[None] if edit.op == "row" else values
        first = edit.row if edit.op == "row" and edit.row is not None else 0
        for i in range(own.size(-2)):
            source = self.offset + i - first
            if not 0 <= source < pattern.size(0):
                continue
            if pattern.size(-1) < n_keys:
                raise EditError(f"{edit}: it has weights for {pattern.size(-1)} keys, but there are {n_keys}.")
            rows[:, i] = pattern[source, :n_keys]
        return rows

    def output(self, context: Tensor) -> Tensor:
        """Edited head outputs [batch, head, query, d_head]; the given tensor is left alone."""
        changed = context
        for edit in self.edits:
            if edit.op not in ("zero", "mean", "output"):
                continue
            _check_head(edit, context)
            if changed is context:
                changed = context.clone()
            if edit.op == "zero":
                changed[:, edit.head] = 0.0
                continue
            values = torch.as_tensor(edit.values, dtype=context.dtype, device=context.device)
            if values.size(-1) != context.size(-1):
                raise EditError(
                    f"{edit}: its vectors have {values.size(-1)} numbers, but the head's {context.size(-1)}."
                )
            if edit.op == "mean":
                changed[:, edit.head] = values
                continue
            for i in range(min(context.size(-2), values.size(0) - self.offset)):
                changed[:, edit.head, i] = values[self.offset + i]
        return changed


def _check_head(edit: HeadEdit, tensor: Tensor) -> None:
    if not 0 <= edit.head < tensor.size(1):
        raise EditError(f"{edit}: this layer has {tensor.size(1)} heads.")
