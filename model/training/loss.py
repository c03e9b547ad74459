"""Model and loss as one module for training, with label-smoothed cross-entropy or the consistency of two views.

Beside the loss that is optimised stands the plain negative log-likelihood (NLL) of the same tokens, which can be
compared with that of the validation sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.architectures import Model
from model.config import PAD
from model.fast.cross_entropy import projected_cross_entropy, slice_rows
from model.fast.training import additive, training_twin
from model.masks import causal_mask, padding_mask
from model.training.consistency import Consistency, CutEmbedding, projected_consistency
from model.transformer import Transformer


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
        self.model = training_twin(model, fused=fused)
        self._embeddings = (self.model.src_embedding, self.model.tgt_embedding)
        for embedding in self._embeddings if consistency == "simcut" else ():
            embedding.__class__ = CutEmbedding
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
        if self.consistency != "none":
            src, tgt_in = torch.cat((src, src)), torch.cat((tgt_in, tgt_in))  # [2 · batch, seq]
            if kept is not None:
                for embedding, side in zip(self._embeddings, kept, strict=True):
                    embedding.kept = torch.cat((torch.ones_like(side), side))
        # On a CPU, bf16 pays in large products only: the fused twin knows which; otherwise it is the output projection.
        rounds = torch.is_autocast_enabled(src.device.type) and (src.device.type != "cpu" or self.fused)
        with torch.autocast(src.device.type, enabled=rounds, dtype=torch.get_autocast_dtype(src.device.type)):
            hidden = self._hidden(src, tgt_in)
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

    def _hidden(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """The decoder's output [batch, tgt, d_model] under teacher forcing."""
        model = self.model
        src_mask, tgt_mask = padding_mask(src), None
        if self.fused:
            # A causal row cannot see the padding on its right, so that needs no mask.
            tgt_mask = causal_mask(tgt_in.size(1), tgt_in.device) if model.config.causal else padding_mask(tgt_in)
            device = src.device.type
            rounds = device != "cpu" and torch.is_autocast_enabled(device)  # the kernel's inputs
            dtype = torch.get_autocast_dtype(device) if rounds else model.output.weight.dtype
            src_mask, tgt_mask = additive(src_mask, dtype), additive(tgt_mask, dtype)
        memory = model.encode(src, src_mask=src_mask)
        if isinstance(model, Transformer):
            return model.decode(tgt_in, memory, src_mask=src_mask, tgt_mask=tgt_mask)
        return model.decode(tgt_in, memory, src_mask=src_mask)
