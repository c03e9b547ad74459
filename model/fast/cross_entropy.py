"""Compute the output projection, its softmax and the cross-entropy together, one slice of rows at a time.

Projection, softmax and their gradients dominate the cost of a small model. They are computed for one slice of rows,
forward and backward, while it is in the processor's cache, so the [token, vocab] logits are never stored as a whole.
The reference is :func:`model.loss.label_smoothed_cross_entropy`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SLICE_LOGITS = {"cpu": 750_000, "cuda": 100_000_000}  # sized for the cache of a CPU and the memory of a GPU


def slice_rows(device: str, vocabulary: int) -> int:
    """Number of rows, of one logit per token of the vocabulary, that are computed at a time."""
    return max(64, SLICE_LOGITS.get(device, SLICE_LOGITS["cuda"]) // vocabulary)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Σ over tokens of the cross-entropy of softmax(hidden · weightᵀ) with smoothed labels."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        table = weight.to(dtype)
        mean_row = weight.mean(dim=0)  # [d_model]: hidden · mean_row is the mean logit, which smoothing needs
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        total = torch.zeros((), dtype=torch.float64 if kind == "cpu" else torch.float32, device=hidden.device)
        nll = torch.zeros_like(total)
        size = slice_rows(kind, len(weight))
        for at in range(0, len(labels), size):
            rows, targets = hidden[at : at + size].to(dtype), labels[at : at + size, None]
            logits = rows @ table.T  # [token, vocab]
            logits = logits if logits.dtype == torch.float64 else logits.float()
            target_logits = logits.gather(1, targets)
            probabilities = torch.softmax(logits, dim=1)
            # log Σ exp(logit) from the largest logit and probability: log_softmax and exp would take twice as long.
            log_sum = logits.amax(dim=1, keepdim=True) - probabilities.amax(dim=1, keepdim=True).log()
            total += (log_sum - (1 - smoothing) * target_logits).sum(dtype=total.dtype)
            nll += (log_sum - target_logits).sum(dtype=total.dtype)
            # The gradient of the logits is softmax - labels; the uniform part of the labels is subtracted at the end.
            probabilities.scatter_add_(1, targets, probabilities.new_full((len(rows), 1), smoothing - 1))
            probabilities = probabilities.to(dtype)
            grad_hidden[at : at + size] = probabilities @ table
            grad_weight += probabilities.T @ rows
        grad_hidden -= smoothing * mean_row
        hidden_sum = hidden.sum(dim=0)
        grad_weight -= smoothing / len(weight) * hidden_sum
        ctx.save_for_backward(grad_hidden, grad_weight)
        ctx.mark_non_differentiable(nll)
        return (total - smoothing * (hidden_sum @ mean_row)).to(weight.dtype), nll

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        grad = grad_outputs[0]
        return grad_hidden * grad, grad_weight * grad, None, None


def projected_cross_entropy(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy in nats with `smoothing` of the mass spread over all tokens (Vaswani et al. 2017, §5.4).

    It equals F.cross_entropy(hidden · weightᵀ, labels, label_smoothing=smoothing, reduction="sum"). The second value
    is the same without smoothing; it has no gradient.

    Shapes:
        hidden: [token, d_model]; weight: [vocab, d_model]; labels: [token] ids; returns two scalars.
    """
    loss: tuple[Tensor, Tensor] = _ProjectedCrossEntropy.apply(hidden, weight, labels, smoothing)
    return loss
