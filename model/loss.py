"""The training loss: cross-entropy with label smoothing (Vaswani et al. 2017, §5.4)."""

from __future__ import annotations

import torch
from torch import Tensor

from model.config import PAD


def label_smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """Sum of -log p over the target tokens, with `smoothing` of the labels' mass spread over all tokens.

    (Label smoothing: Szegedy et al. 2016, §7.) Padding does not count.

    Shapes:
        logits: [batch, tgt, vocab]; labels: [batch, tgt] ids.
        returns: a scalar, in nats; divided by the number of tokens, it is the mean loss.
    """
    log_probs = logits.log_softmax(dim=-1)
    right = log_probs.gather(-1, labels[..., None]).squeeze(-1)  # [batch, tgt]
    uniform = log_probs.mean(dim=-1)  # [batch, tgt]
    loss = -((1.0 - smoothing) * right + smoothing * uniform)
    return torch.where(labels == PAD, 0.0, loss).sum()
