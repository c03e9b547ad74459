"""Consistency of two views of a batch: SimCut and R-Drop, which penalise different predictions from two noisy passes.

Both add to the cross-entropy the divergence between the predictions p and q of two forward passes. The gradient flows
through both p and q.

    SimCut   CE(p) + α · KL(p ‖ q)                                  q reads inputs with some tokens cut off
    R-Drop   CE(p) + CE(q) + α/2 · [KL(p ‖ q) + KL(q ‖ p)]          q differs from p by its dropout alone

Sources: Gao, He, Wu and Wang 2022, "Bi-SimCut: A Simple Strategy for Boosting Neural Machine Translation", §3.1,
where α = 3 and each token's embedding is zeroed with probability 0.05 on both sides (token cutoff: Shen et al. 2020);
Liang (Xiaobo), Wu et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", eq. 1–3, where α = 5.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.training.randomness import generator

Consistency = Literal["none", "simcut", "rdrop"]


class CutEmbedding(nn.Embedding):
    """An embedding that is zero for tokens that are cut off: `keep_mask` [batch, seq] bool, True = kept."""

    keep_mask: Tensor | None = None

    def forward(self, input: Tensor) -> Tensor:
        """[batch, seq] ids -> [batch, seq, d_model]."""
        vectors = super().forward(input)
        return vectors if self.keep_mask is None else vectors * self.keep_mask[..., None]


def draw_cutoff(src: Tensor, tgt_in: Tensor, p: float, seed: int, step: int, number: int) -> tuple[Tensor, Tensor]:
    """Draw the tokens that a SimCut view keeps: each is cut off with probability `p`, from the seed and batch alone.

    `number` counts the batches of update `step` over all processes, so that the draw does not depend on their division.

    Shapes:
        src: [batch, src]; tgt_in: [batch, tgt]; returns two bool tensors of these shapes on the CPU, True = kept.
    """
    rng = generator(seed, "cutoff", step, number)
    return torch.rand(src.shape, generator=rng) >= p, torch.rand(tgt_in.shape, generator=rng) >= p


def two_view_loss(
    p_logits: Tensor, q_logits: Tensor, labels: Tensor, smoothing: float, alpha: float, symmetric: bool
) -> tuple[Tensor, Tensor]:
    """The summed loss of the logits of two views, [token, vocab] each, and the plain NLL of the first."""
    log_p, log_q = p_logits.log_softmax(dim=1), q_logits.log_softmax(dim=1)
    nll = F.nll_loss(log_p, labels, reduction="sum")
    loss = _smoothed(nll, log_p, smoothing)
    divergence = F.kl_div(log_q, log_p, log_target=True, reduction="sum")  # KL(p ‖ q)
    if symmetric:
        loss = loss + _smoothed(F.nll_loss(log_q, labels, reduction="sum"), log_q, smoothing)
        divergence = (divergence + F.kl_div(log_p, log_q, log_target=True, reduction="sum")) / 2
    return loss + alpha * divergence, nll.detach()


def _smoothed(nll: Tensor, log_probs: Tensor, smoothing: float) -> Tensor:
    """The summed cross-entropy with smoothed labels, from the plain one."""
    return (1 - smoothing) * nll - smoothing * log_probs.mean(dim=1).sum() if smoothing else nll


class _Sliced(torch.autograd.Function):
    """Loss and gradients of one slice of rows at a time, so that the [token, vocab] logits are never stored whole."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, other: Tensor, weight: Tensor, labels: Tensor, size: int, *formula: Any
    ) -> tuple[Tensor, Tensor]:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        total = torch.zeros((), dtype=torch.float64 if kind == "cpu" else torch.float32, device=hidden.device)
        nll = torch.zeros_like(total)
        gradients = tuple(map(torch.zeros_like, (hidden, other, weight)))
        table = weight.detach().to(dtype).requires_grad_()
        for at in range(0, len(labels), size):
            part = slice(at, at + size)
            rows = [view[part].detach().to(dtype).requires_grad_() for view in (hidden, other)]
            with torch.enable_grad():
                p_logits, q_logits = (view @ table.T for view in rows)
                if dtype != torch.float64:
                    p_logits, q_logits = p_logits.float(), q_logits.float()
                loss, plain = two_view_loss(p_logits, q_logits, labels[part], *formula)
            slice_gradients = torch.autograd.grad(loss, (*rows, table))
            gradients[0][part], gradients[1][part] = slice_gradients[:2]
            gradients[2].add_(slice_gradients[2])
            total += loss.detach()
            nll += plain
        ctx.save_for_backward(*gradients)
        ctx.mark_non_differentiable(nll)
        return total.to(weight.dtype), nll

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        return (*(gradient * grad_outputs[0] for gradient in ctx.saved_tensors), *(None,) * 5)


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
    """Summed loss in nats of two views, by SimCut or (`symmetric`) R-Drop; for the formulas see the module.

    The second value is the plain NLL of the first view; it has no gradient.

    Shapes:
        hidden, other: [token, d_model], the decoder's output for p and for q; weight: [vocab, d_model];
        labels: [token] ids; returns two scalars.
    """
    loss: tuple[Tensor, Tensor] = _Sliced.apply(hidden, other, weight, labels, slice_rows, smoothing, alpha, symmetric)
    return loss
