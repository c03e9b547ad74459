"""Scaled dot-product attention and its multi-head form, with nothing hidden between the two products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Note = Callable[[str, Tensor], None]
"""Takes the result of one operation under its name; a recorder that keeps operations hands one down (see
:meth:`model.recorder.AttentionRecorder.noting`)."""


def within(note: Note | None, part: str) -> Note | None:
    """`note` for a part of a module: names get the part's own in front."""
    if note is None:
        return None
    return lambda name, tensor: note(f"{part}.{name}", tensor)


class Record(Protocol):
    """What a recorder offers one attention layer for one call (see :mod:`model.trace`)."""

    def __call__(
        self,
        *,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scores: Tensor,
        masked: Tensor,
        weights: Tensor,
        output: Tensor,
    ) -> None:
        """Take note of one attention; shapes as in :func:`scaled_dot_product_attention`."""
        ...


class Edit(Protocol):
    """What a head edit does to one attention layer for one call (see :mod:`model.edits`)."""

    def weights(self, weights: Tensor, mask: Tensor | None) -> Tensor:
        """The weights [batch, head, query, key] to go on with."""
        ...

    def output(self, context: Tensor) -> Tensor:
        """The head outputs [batch, head, query, d_head] to go on with."""
        ...


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None = None,
    dropout_p: float = 0.0,
    scale: bool = True,
    record: Record | None = None,
    edit: Edit | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(Q·Kᵀ / √d_head)·V (Vaswani et al. 2017, §3.2.1, eq. 1).

    Shapes:
        query: [batch, head, query, d_head]; key, value: [batch, head, key, d_head].
        mask: bool, broadcastable to [batch, head, query, key], True = may attend; None = everything may.
        returns: context [batch, head, query, d_head] and weights [batch, head, query, key].
    The weights are the very tensor that multiplied `value`, before dropout: float32 or wider, rows sum to 1 over the
    visible keys, exactly 0 where masked; a row with nothing to see is all zeros.
    """
    scores = query @ key.transpose(-2, -1)  # [batch, head, query, d_head] · [.., d_head, key] -> [.., query, key]
    if scale:
        scores = scores / math.sqrt(query.size(-1))
    scores = scores if scores.dtype == torch.float64 else scores.float()
    masked = scores
    if mask is not None:
        # The lowest finite number, not -inf: a row without any visible key would give NaN, in the gradient too.
        masked = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = masked.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # changes only rows without any visible key
    if edit is not None:
        weights = edit.weights(weights, mask)
    kept = F.dropout(weights, dropout_p) if dropout_p else weights
    context = kept.to(value.dtype) @ value  # [batch, head, query, key] · [.., key, d_head] -> [.., query, d_head]
    if edit is not None:
        context = edit.output(context)
    if record is not None:
        record(query=query, key=key, value=value, scores=scores, masked=masked, weights=weights, output=context)
    return context, weights


def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None, dropout_p: float = 0.0, scale: bool = True
) -> Tensor:
    """The same context from PyTorch's fused kernel, which never shows its weights: for training only.

    Shapes: as :func:`scaled_dot_product_attention`; returns context [batch, head, query, d_head].
    """
    factor = None if scale else 1.0
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout_p, scale=factor)


class MultiHeadAttention(nn.Module):
    """h attentions side by side on slices of d_model, joined by one projection (Vaswani et al. 2017, §3.2.2)."""

    def __init__(self, d_model: int, n_heads: int, *, dropout_p: float = 0.0, scale: bool = True) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.dropout_p = dropout_p
        self.scale = scale
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[batch, seq, d_model] -> [batch, head, seq, d_head]."""
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def keys_values(self, memory: Tensor, *, note: Note | None = None) -> tuple[Tensor, Tensor]:
        """Project what is attended to, once.

        Shapes:
            memory: [batch, key, d_model]; returns key and value, each [batch, head, key, d_head].
        """
        key, value = self.k_proj(memory), self.v_proj(memory)
        if note is not None:
            note("k_proj", key)
            note("v_proj", value)
        return self.split_heads(key), self.split_heads(value)

    def attend(
        self,
        queries: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        fused: bool = False,
        record: Record | None = None,
        edit: Edit | None = None,
        note: Note | None = None,
    ) -> Tensor:
        """Attend from `queries` to keys and values that are already projected.

        Shapes:
            queries: [batch, query, d_model]; key, value: [batch, head, key, d_head]; returns [batch, query, d_model].

        Raises:
            ValueError: the fused kernel was asked to be recorded or edited, which it cannot be.
        """
        projected = self.q_proj(queries)
        if note is not None:
            note("q_proj", projected)
        query = self.split_heads(projected)
        dropout_p = self.dropout_p if self.training else 0.0
        if fused:
            if record is not None or edit is not None:
                raise ValueError("the fused kernel hides its weights: recording and editing need fused=False.")
            context = fused_attention(query, key, value, mask=mask, dropout_p=dropout_p, scale=self.scale)
        else:
            context, _ = scaled_dot_product_attention(
                query, key, value, mask=mask, dropout_p=dropout_p, scale=self.scale, record=record, edit=edit
            )
        joined = context.transpose(1, 2).reshape(queries.shape)  # [batch, head, query, d_head] -> [.., query, d_model]
        out: Tensor = self.out_proj(joined)
        if note is not None:
            note("joined", joined)
            note("out_proj", out)
        return out

    def forward(
        self,
        queries: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        fused: bool = False,
        record: Record | None = None,
        edit: Edit | None = None,
        note: Note | None = None,
    ) -> Tensor:
        """Attend from `queries` to `memory` (the same tensor for self-attention).

        Shapes:
            queries: [batch, query, d_model]; memory: [batch, key, d_model]; returns [batch, query, d_model].
        """
        key, value = self.keys_values(memory, note=note)
        return self.attend(queries, key, value, mask=mask, fused=fused, record=record, edit=edit, note=note)
