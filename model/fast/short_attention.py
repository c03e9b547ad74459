"""Attention over short sequences on a CPU, forward and backward, in less time than by the fused kernel.

That kernel is made for long sequences, where the weights would not fit into a cache. For a few words, most of its time,
and of PyTorch's softmax over so few keys, goes into rows that do not fill the processor's vector registers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LONGEST = 40
"""Keys up to which this is the faster way."""


class _ShortAttention(torch.autograd.Function):
    """softmax(Q·Kᵀ / √d_head + mask)·V, with the softmax made of operations that run over all rows at once."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        batch, head, length, d_head = query.shape
        # [batch, head, seq, d_head] -> [batch · head, seq, d_head]
        q, k, v = (each.reshape(batch * head, -1, d_head) for each in (query, key, value))
        scores = torch.baddbmm(q.new_zeros(()), q, k.transpose(1, 2), beta=0, alpha=d_head**-0.5)
        if mask is not None:
            scores.view(batch, head, length, -1).add_(mask)
        # The bounds are for a row without any visible key, whose weights are 0.
        bounds = torch.finfo(scores.dtype)
        weights = scores.sub_(scores.amax(dim=-1, keepdim=True).clamp_(min=bounds.min)).exp_()  # [.., query, key]
        weights.div_(weights.sum(dim=-1, keepdim=True).clamp_(min=bounds.tiny))
        ctx.save_for_backward(q, k, v, weights)
        return torch.bmm(weights, v).view(batch, head, length, d_head)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, weights = ctx.saved_tensors
        grad = grad_outputs[0]
        batch, head, _, d_head = grad.shape
        grad = grad.reshape(batch * head, -1, d_head)
        grad_v = torch.bmm(weights.transpose(1, 2), grad)
        # Of the softmax: weights · (gradient - the row's mean gradient under its weights).
        grad_scores = torch.bmm(grad, v.transpose(1, 2))
        grad_scores.sub_((grad_scores * weights).sum(dim=-1, keepdim=True)).mul_(weights)
        zero, scale = q.new_zeros(()), d_head**-0.5
        grad_q = torch.baddbmm(zero, grad_scores, k, beta=0, alpha=scale)
        grad_k = torch.baddbmm(zero, grad_scores.transpose(1, 2), q, beta=0, alpha=scale)
        grads = (each.view(batch, head, -1, d_head) for each in (grad_q, grad_k, grad_v))
        return *grads, None  # type: ignore[return-value]


def short_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """The heads' outputs, as from F.scaled_dot_product_attention; those of a query without any visible key are 0.

    Shapes:
        query: [batch, head, query, d_head]; key, value: [batch, head, key, d_head]; mask: additive, broadcastable to
        [batch, head, query, key], or None; returns query's shape.
    """
    output: Tensor = _ShortAttention.apply(query, key, value, mask)
    return output
