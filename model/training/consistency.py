"""Consistency of two views of a batch: SimCut and R-Drop, which ask for one prediction from two noisy passes.

Both add to the cross-entropy the divergence between the predictions p and q of two forward passes, and both send the
gradient through p and q alike.

    SimCut   CE(p) + α · KL(p ‖ q)                                  q reads inputs with some tokens cut off
    R-Drop   CE(p) + CE(q) + α/2 · [KL(p ‖ q) + KL(q ‖ p)]          q differs from p by its dropout alone

Sources: Gao, He, Wu and Wang 2022, "Bi-SimCut: A Simple Strategy for Boosting Neural Machine Translation", §3.1,
where α = 3 and each token's embedding is zeroed with probability 0.05 on both sides (token cutoff: Shen et al. 2020);
Liang (Xiaobo), Wu et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", eq. 1–3, where α = 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from model.training.randomness import generator

Consistency = Literal["none", "simcut", "rdrop"]


@dataclass(frozen=True)
class TokenCutoff:
    """A tap that zeroes the embeddings of some tokens before positions are added.

    Shapes: `src` [batch, src], `tgt` [batch, tgt] bool, True = kept; on the device of the model.
    """

    src: Tensor
    tgt: Tensor

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """The embeddings [batch, position, d_model] without those cut off; other points are left alone."""
        if point == "src.embedding":
            return tensor * self.src[..., None]
        if point == "tgt.embedding":
            return tensor * self.tgt[..., None]
        return tensor


def draw_cutoff(src: Tensor, tgt_in: Tensor, p: float, seed: int, step: int, number: int) -> tuple[Tensor, Tensor]:
    """Which tokens a SimCut view keeps: each is cut off with probability `p`, from the seed and the batch alone.

    `number` counts the batches of update `step` over all processes, so that their division does not change the draw.

    Shapes:
        src: [batch, src]; tgt_in: [batch, tgt]; returns two bool tensors of these shapes, True = kept.
    """
    rng = generator(seed, "cutoff", step, number)
    src_kept, tgt_kept = (torch.rand(tokens.shape, generator=rng) >= p for tokens in (src, tgt_in))
    return src_kept.to(src.device, non_blocking=True), tgt_kept.to(src.device, non_blocking=True)


class _ProjectedConsistency(torch.autograd.Function):
    """Σ over tokens of cross-entropy and divergence of softmax(hidden · weightᵀ), one slice of rows at a time."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        other: Tensor,
        weight: Tensor,
        labels: Tensor,
        smoothing: float,
        alpha: float,
        symmetric: bool,
        size: int,
    ) -> tuple[Tensor, Tensor]:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        table = weight.to(dtype)
        total = torch.zeros((), dtype=torch.float64 if kind == "cpu" else torch.float32, device=hidden.device)
        nll = torch.zeros_like(total)
        grad_hidden, grad_other = torch.empty_like(hidden), torch.empty_like(other)
        grad_weight = torch.zeros_like(weight)
        for at in range(0, len(labels), size):
            wanted = labels[at : at + size, None]
            rows = [each[at : at + size].to(dtype) for each in (hidden, other)]
            logits = [each @ table.T for each in rows]  # [token, vocab] each
            log_p, log_q = (torch.log_softmax(x if x.dtype == torch.float64 else x.float(), dim=1) for x in logits)
            p, q = log_p.exp(), log_q.exp()
            ratio = log_p - log_q
            forward_kl = (p * ratio).sum(dim=1, keepdim=True)  # KL(p ‖ q) of each token
            total += _cross_entropy(log_p, wanted, smoothing).sum(dtype=total.dtype)
            nll += _cross_entropy(log_p, wanted, 0.0).sum(dtype=total.dtype)
            grad_p = _cross_entropy_gradient(p, wanted, smoothing)
            if symmetric:
                backward_kl = -(q * ratio).sum(dim=1, keepdim=True)  # KL(q ‖ p)
                total += _cross_entropy(log_q, wanted, smoothing).sum(dtype=total.dtype)
                total += alpha / 2 * (forward_kl + backward_kl).sum(dtype=total.dtype)
                grad_p += alpha / 2 * (p * (ratio - forward_kl) + p - q)
                grad_q = _cross_entropy_gradient(q, wanted, smoothing)
                grad_q += alpha / 2 * (q * (-ratio - backward_kl) + q - p)
            else:
                total += alpha * forward_kl.sum(dtype=total.dtype)
                grad_q = (q - p).mul_(alpha)
                grad_p += p.mul_(ratio.sub_(forward_kl)).mul_(alpha)
            grad_p, grad_q = grad_p.to(dtype), grad_q.to(dtype)
            grad_hidden[at : at + size] = grad_p @ table
            grad_other[at : at + size] = grad_q @ table
            grad_weight += grad_p.T @ rows[0]
            grad_weight += grad_q.T @ rows[1]
        ctx.save_for_backward(grad_hidden, grad_other, grad_weight)
        ctx.mark_non_differentiable(nll)
        return total.to(weight.dtype), nll

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        grad_hidden, grad_other, grad_weight = ctx.saved_tensors
        grad = grad_outputs[0]
        return grad_hidden * grad, grad_other * grad, grad_weight * grad, None, None, None, None, None


def _cross_entropy(log_probs: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy with smoothed labels, [token, 1], from log-probabilities [token, vocab] and labels [token, 1]."""
    nll = -(1 - smoothing) * log_probs.gather(1, wanted)
    return nll - smoothing * log_probs.mean(dim=1, keepdim=True) if smoothing else nll


def _cross_entropy_gradient(probabilities: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
    """Its gradient for the logits: softmax minus smoothed labels, [token, vocab]."""
    gradient = probabilities - smoothing / probabilities.size(1)
    return gradient.scatter_add_(1, wanted, gradient.new_full(wanted.shape, smoothing - 1))


@torch.compiler.disable  # type: ignore[untyped-decorator]  # a loop over slices, of unknown length
def projected_consistency(
    hidden: Tensor,
    other: Tensor,
    weight: Tensor,
    labels: Tensor,
    smoothing: float,
    *,
    alpha: float,
    symmetric: bool,
    slice_rows: int,
) -> tuple[Tensor, Tensor]:
    """Summed loss in nats of two views, SimCut's or (`symmetric`) R-Drop's; the formulas are above.

    The second value is the plain NLL of the first view; it has no gradient.

    Shapes:
        hidden, other: [token, d_model], the decoder's output for p and for q; weight: [vocab, d_model];
        labels: [token] ids; returns two scalars.
    """
    loss: tuple[Tensor, Tensor] = _ProjectedConsistency.apply(
        hidden, other, weight, labels, smoothing, alpha, symmetric, slice_rows
    )
    return loss
