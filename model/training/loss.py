"""Label-smoothed cross-entropy over target tokens without padding, and the training module of model and loss.

Beside the loss that is optimised stands the plain negative log-likelihood (NLL) of the same tokens, which can be
compared with that of the validation sentences.

The output projection, its softmax and their gradients dominate the cost of a small model. They are computed for one
slice of rows at a time, forward and backward together, so that a slice stays in the processor's cache and the
[token, vocab] logits are never stored as a whole.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.architectures import Model
from model.config import PAD
from model.masks import causal_mask, padding_mask
from model.tap import Tap
from model.training.consistency import Consistency, TokenCutoff, projected_consistency
from model.training.fused import additive, fused_twin
from model.transformer import Transformer

SLICE_NUMBERS = {
    "cpu": 750_000,
    "cuda": 100_000_000,
}  # logits per slice, sized for the cache of a CPU and the memory of a GPU


def slice_rows(device: str, vocabulary: int) -> int:
    """The number of rows whose logits are computed at a time, each of the length of the vocabulary."""
    return max(64, SLICE_NUMBERS.get(device, SLICE_NUMBERS["cuda"]) // vocabulary)


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
            rows, wanted = hidden[at : at + size].to(dtype), labels[at : at + size, None]
            logits = rows @ table.T  # [token, vocab]
            logits = logits if logits.dtype == torch.float64 else logits.float()
            right = logits.gather(1, wanted)
            probabilities = torch.softmax(logits, dim=1)
            # log Σ exp(logit) from the largest of both: with log_softmax and exp it would take twice as long.
            log_sum = logits.amax(dim=1, keepdim=True) - probabilities.amax(dim=1, keepdim=True).log()
            total += (log_sum - (1 - smoothing) * right).sum(dtype=total.dtype)
            nll += (log_sum - right).sum(dtype=total.dtype)
            # The gradient of the logits is softmax - labels; the uniform part of the smoothing follows for all slices.
            probabilities.scatter_add_(1, wanted, probabilities.new_full((len(rows), 1), smoothing - 1))
            probabilities = probabilities.to(dtype)
            grad_hidden[at : at + size] = probabilities @ table
            grad_weight += probabilities.T @ rows
        grad_hidden -= smoothing * mean_row
        summed = hidden.sum(dim=0)
        grad_weight -= smoothing / len(weight) * summed
        ctx.save_for_backward(grad_hidden, grad_weight)
        ctx.mark_non_differentiable(nll)
        return (total - smoothing * (summed @ mean_row)).to(weight.dtype), nll

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        grad = grad_outputs[0]
        return grad_hidden * grad, grad_weight * grad, None, None


@torch.compiler.disable  # type: ignore[untyped-decorator]  # a loop over slices, of unknown length
def projected_cross_entropy(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy in nats with `smoothing` of the mass spread over all tokens (Vaswani et al. 2017, §5.4).

    It equals F.cross_entropy(hidden · weightᵀ, labels, label_smoothing=smoothing, reduction="sum"). The second value
    is the same without smoothing; it has no gradient.

    Shapes:
        hidden: [token, d_model]; weight: [vocab, d_model]; labels: [token] ids; returns two scalars.
    """
    loss: tuple[Tensor, Tensor] = _ProjectedCrossEntropy.apply(hidden, weight, labels, smoothing)
    return loss


class TrainingLoss(nn.Module):
    """Model and loss as one module, so that DDP and torch.compile see a single forward pass."""

    def __init__(
        self,
        model: Model,
        *,
        smoothing: float,
        fused: bool,
        consistency: Consistency = "none",
        consistency_weight: float = 0.0,
    ) -> None:
        super().__init__()
        if fused and not isinstance(model, Transformer):
            raise ValueError("only a Transformer has attention that the fused kernel can compute.")
        self.model: Model = fused_twin(model) if fused and isinstance(model, Transformer) else model
        self.smoothing = smoothing
        self.fused = fused
        self.consistency = consistency
        self.consistency_weight = consistency_weight

    def forward(
        self, src: Tensor, tgt_in: Tensor, labels: Tensor, kept: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Summed loss of a batch in nats over its target tokens, without padding, and their plain NLL.

        The NLL (without smoothing and consistency; of the first of two views) is a measurement and has no gradient.
        With consistency of two views, both are one batch of twice the size, in which dropout differs.

        Shapes:
            src: [batch, src]; tgt_in, labels: [batch, tgt], right-padded; returns two scalars.
            kept: [batch, src] and [batch, tgt] bool, the tokens that SimCut's second view sees.
        """
        model = self.model
        cutoff = None
        if self.consistency != "none":
            src, tgt_in = torch.cat((src, src)), torch.cat((tgt_in, tgt_in))  # [2 · batch, seq]
            if kept is not None:
                cutoff = TokenCutoff(*(torch.cat((torch.ones_like(side), side)) for side in kept))
        # On a CPU, bf16 pays in large products only: the fused twin knows which; otherwise it is the output projection.
        rounds = torch.is_autocast_enabled(src.device.type) and (src.device.type != "cpu" or self.fused)
        with torch.autocast(src.device.type, enabled=rounds, dtype=torch.get_autocast_dtype(src.device.type)):
            hidden = self._fused(src, tgt_in, cutoff) if self.fused else self._explicit(src, tgt_in, cutoff)
        real = labels != PAD
        views, table = hidden.chunk(1 if self.consistency == "none" else 2), model.output.weight
        rows = [view[real] for view in views]  # [token, d_model] of each view
        if model.output.bias is not None:  # one more column, which every row multiplies by 1
            rows = [torch.cat((each, each.new_ones(len(each), 1)), dim=1) for each in rows]
            table = torch.cat((table, model.output.bias[:, None]), dim=1)
        if self.consistency == "none":
            return projected_cross_entropy(rows[0], table, labels[real], self.smoothing)
        return projected_consistency(
            *rows,
            table,
            labels[real],
            self.smoothing,
            alpha=self.consistency_weight,
            symmetric=self.consistency == "rdrop",
            slice_rows=slice_rows(src.device.type, len(table)),
        )

    def _explicit(self, src: Tensor, tgt_in: Tensor, tap: Tap | None) -> Tensor:
        src_mask = padding_mask(src)
        memory = self.model.encode(src, src_mask=src_mask, tap=tap)
        return self.model.decode(tgt_in, memory, src_mask=src_mask, tap=tap)

    def _fused(self, src: Tensor, tgt_in: Tensor, tap: Tap | None) -> Tensor:
        """The same with the fused kernel; a causal row cannot see the padding on its right, so that needs no mask.

        The tap sees the embeddings only, because the kernel has no points.
        """
        model = self.model
        assert isinstance(model, Transformer)
        device = src.device.type
        rounds = device != "cpu" and torch.is_autocast_enabled(device)  # the kernel's inputs
        dtype = torch.get_autocast_dtype(device) if rounds else model.output.weight.dtype
        src_mask = additive(padding_mask(src), dtype)
        causal = causal_mask(tgt_in.size(1), tgt_in.device)
        tgt_mask = additive(causal if model.config.causal else padding_mask(tgt_in), dtype)
        memory = model.encoder(model.embed(src, side="src", tap=tap), mask=src_mask)
        cross_kv = model.decoder.project_memory(memory)
        x = model.embed(tgt_in, side="tgt", tap=tap)
        hidden: Tensor = model.decoder(x, cross_kv, self_mask=tgt_mask, cross_mask=src_mask)[0]
        return hidden
