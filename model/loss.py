"""The training loss: cross-entropy with label smoothing (Vaswani et al. 2017, §5.4)."""

from __future__ import annotations

import torch
from torch import Tensor

from model.config import PAD


def label_smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """Sum over the target tokens of the cross-entropy with smoothed labels; padding does not count.

    A smoothed label is 1 - `smoothing` on the right token and `smoothing` spread evenly over the
    whole vocabulary (Szegedy et al. 2016, §7).

    Shapes:
        logits: [batch, tgt, vocab]; labels: [batch, tgt] ids.
        returns: a scalar, in nats; divided by the number of target tokens, it is the mean loss.
    """
    log_probs = logits.log_softmax(dim=-1)
    log_p_label = log_probs.gather(-1, labels[..., None]).squeeze(-1)  # [batch, tgt]
    mean_log_p = log_probs.mean(dim=-1)  # [batch, tgt]
    loss = -((1.0 - smoothing) * log_p_label + smoothing * mean_log_p)
    return torch.where(labels == PAD, 0.0, loss).sum()
