"""The plain loss is PyTorch's; that the fast one is PyTorch's too: training/test_parts.py."""

import pytest
import torch
from torch.nn import functional as F

from model.config import PAD
from model.loss import label_smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_it_is_torchs_cross_entropy_without_padding(smoothing: float) -> None:
    logits, labels = torch.randn(3, 5, 11, requires_grad=True), torch.randint(1, 11, (3, 5))
    labels[1, 3:] = PAD
    ours = label_smoothed_cross_entropy(logits, labels, smoothing)
    theirs = F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=smoothing
    )
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in (ours, theirs)))
    assert smoothing or torch.equal(ours, label_smoothed_cross_entropy(logits, labels)), "without is the default"
