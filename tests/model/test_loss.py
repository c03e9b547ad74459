"""The plain loss is PyTorch's, and the fast one is the plain one."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from model.config import PAD
from model.fast.cross_entropy import projected_cross_entropy
from model.loss import label_smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_it_is_torchs_cross_entropy_without_padding(smoothing: float) -> None:
    logits, labels = torch.randn(3, 5, 11), torch.randint(1, 11, (3, 5))
    labels[1, 3:] = PAD
    expected = F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=smoothing
    )
    torch.testing.assert_close(label_smoothed_cross_entropy(logits, labels, smoothing), expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_fast_twin_gives_the_same_loss_and_gradients(smoothing: float) -> None:
    hidden, weight = torch.randn(2, 6, 8, requires_grad=True), torch.randn(11, 8, requires_grad=True)
    labels = torch.randint(1, 11, (2, 6))
    labels[0, 4:] = PAD
    plain = label_smoothed_cross_entropy(hidden @ weight.T, labels, smoothing)
    real = labels != PAD
    fast, nll = projected_cross_entropy(hidden[real], weight, labels[real], smoothing)
    torch.testing.assert_close(fast, plain)
    torch.testing.assert_close(nll.to(plain.dtype), label_smoothed_cross_entropy(hidden @ weight.T, labels).detach())
    gradients = (torch.autograd.grad(loss, (hidden, weight), retain_graph=True) for loss in (plain, fast))
    for expected, found in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected)
