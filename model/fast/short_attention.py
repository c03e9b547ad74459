"""Attention over short sequences on a CPU, forward and backward, faster than the fused kernel.

The fused kernel is made for long sequences, whose weights would not fit into a cache. With a few keys, it spends most
of its time on rows that do not fill the processor's vector registers, and so does PyTorch's softmax.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LONGEST = 40
"""Number of keys up to which this is faster."""


class _ShortAttention(torch.autograd.Function):
    """softmax(Q·Kᵀ / √d_head + mask)·V, with the softmax composed of operations on all rows at once."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        batch, head, length, d_head = query.shape
        # [batch, head, seq, d_head] -> [batch · head, seq, d_head]
        q, k, v = (each.reshape(batch * head, -1, d_head) for each in (query, key, value))
        scores = torch.baddbmm(q.new_zeros(()), q, k.transpose(1, 2), beta=0, alpha=d_head**-0.5)
        if mask is not None:
            scores.view(batch, head, length, -1).add_(mask)
        # Both clamps concern rows without any visible key, whose weights become 0.
        info = torch.finfo(scores.dtype)
        weights = scores.sub_(scores.amax(dim=-1, keepdim=True).clamp_(min=info.min)).exp_()  # [.., query, key]
        weights.div_(weights.sum(dim=-1, keepdim=True).clamp_(min=info.tiny))
        ctx.save_for_backward(q, k, v, weights)
        return torch.bmm(weights, v).view(batch, head, length, d_head)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, weights = ctx.saved_tensors
        grad = grad_outputs[0]
        batch, head, _, d_head = grad.shape
        grad = grad.reshape(batch * head, -1, d_head)
        grad_v = torch.bmm(weights.transpose(1, 2), grad)
        # Gradient of the softmax: weights · (gradient - the row's mean gradient under its weights).
        grad_scores = torch.bmm(grad, v.transpose(1, 2))
        grad_scores.sub_((grad_scores * weights).sum(dim=-1, keepdim=True)).mul_(weights)
        zero, scale = q.new_zeros(()), d_head**-0.5
        grad_q = torch.baddbmm(zero, grad_scores, k, beta=0, alpha=scale)
        grad_k = torch.baddbmm(zero, grad_scores.transpose(1, 2), q, beta=0, alpha=scale)
        grads = (each.view(batch, head, -1, d_head) for each in (grad_q, grad_k, grad_v))
        return *grads, None  # type: ignore[return-value]


def short_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Compute the heads' outputs like F.scaled_dot_product_attention, but 0 for a query without any visible key.

    Shapes:
        query: [batch, head, query, d_head]; key, value: [batch, head, key, d_head]; mask: additive, broadcastable to
        [batch, head, query, key], or None; returns query's shape.
    """
    output: Tensor = _ShortAttention.apply(query, key, value, mask)
    return output
