"""Label-smoothed cross-entropy over real target tokens, and the module that training runs forward."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from model.config import PAD
from model.masks import padding_mask
from model.transformer import Transformer


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    """Summed cross-entropy in nats with `smoothing` of the mass spread over all tokens (Vaswani et al. 2017, §5.4).

    Shapes:
        logits: [token, vocab]; labels: [token] ids; returns a scalar.
    """
    return F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")


class TrainingLoss(nn.Module):
    """Model and loss as one module, so that DDP and torch.compile see one forward pass."""

    def __init__(self, model: Transformer, *, smoothing: float, fused: bool) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.fused = fused

    def forward(self, src: Tensor, tgt_in: Tensor, labels: Tensor) -> Tensor:
        """Summed loss of a batch in nats.

        Shapes:
            src: [batch, src]; tgt_in, labels: [batch, tgt], right-padded; returns a scalar.
        Only rows that predict a real token are projected to the vocabulary: that product and its softmax are the
        largest part of a small model's work.
        """
        src_mask = padding_mask(src)
        memory = self.model.encode(src, src_mask=src_mask, fused=self.fused)
        hidden = self.model.decode(tgt_in, memory, src_mask=src_mask, fused=self.fused)
        real = labels != PAD
        return smoothed_cross_entropy(self.model.output(hidden[real]), labels[real], self.smoothing)
