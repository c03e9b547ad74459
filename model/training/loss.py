"""Model and loss as one module for training, with label-smoothed cross-entropy or the consistency of two views.

Besides the loss that is optimised, it returns the plain negative log-likelihood (NLL) of the same tokens, which is
comparable to the validation loss.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.architectures import Model
from model.attention import Mask
from model.config import ConfigError
from model.decoder_only import DecoderOnly
from model.fast.cross_entropy import projected_cross_entropy, slice_rows
from model.fast.training import additive, training_twin
from model.masks import causal_mask, padding_mask, target_mask
from model.training.consistency import Consistency, CutEmbedding, projected_consistency
from model.transformer import Transformer


class TrainingLoss(nn.Module):
    """Model and loss as one module, so that DDP sees a single forward pass.

    Nothing in it waits for a GPU: the shapes of all tensors follow from the shapes of its arguments.
    """

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
        self._embeddings: tuple[nn.Embedding, ...] = ()
        if consistency == "simcut":
            if not model.config.has_encoder:
                raise ConfigError(
                    "consistency=simcut hides tokens of two sides; architecture=decoder has one: use rdrop."
                )
            self._embeddings = (self.model.src_embedding, self.model.tgt_embedding)
        for embedding in self._embeddings:
            embedding.__class__ = CutEmbedding
        self.smoothing = smoothing
        self.fused = fused
        self.consistency = consistency
        self.consistency_weight = consistency_weight

    def compile_model(self) -> None:
        """Compile the model's forward pass as one graph; the loss, a loop over slices, is not compiled."""
        fullgraph = isinstance(self.model, Transformer)  # an LSTM packs sentences by length, which breaks the graph
        self._hidden = torch.compile(self._hidden, dynamic=True, fullgraph=fullgraph)  # type: ignore[method-assign]

    def forward(
        self,
        src: Tensor,
        tgt_in: Tensor,
        labels: Tensor,
        rows: Tensor,
        keep_masks: tuple[Tensor, Tensor] | None = None,
        padded: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Summed loss of a batch in nats over its target tokens, without padding, and their plain NLL: two scalars.

        The NLL (without smoothing and consistency; of the first of two views) has no gradient. Two views are computed
        as one batch of twice the size, in which dropout differs. For the arguments see
        :class:`model.training.corpus.Inputs`.
        """
        model = self.model
        if self.consistency != "none":
            src, tgt_in = torch.cat((src, src)), torch.cat((tgt_in, tgt_in))  # [2 · batch, seq]
            if keep_masks is not None:
                for embedding, mask in zip(self._embeddings, keep_masks, strict=True):
                    embedding.keep_mask = torch.cat((torch.ones_like(mask), mask))
        # On a CPU, only large matmuls gain from bf16: those of the fused twin's linear layers, or else only the output
        # projection.
        bf16 = torch.is_autocast_enabled(src.device.type) and (src.device.type != "cpu" or self.fused)
        with torch.autocast(src.device.type, enabled=bf16, dtype=torch.get_autocast_dtype(src.device.type)):
            hidden = self._hidden(src, tgt_in, padded)
        views, table = hidden.chunk(1 if self.consistency == "none" else 2), model.output.weight
        predictions = [view.flatten(0, 1).index_select(0, rows) for view in views]  # [token, d_model] of each view
        if model.output.bias is not None:  # the bias as one more column, multiplied by 1
            predictions = [torch.cat((view, view.new_ones(len(view), 1)), dim=1) for view in predictions]
            table = torch.cat((table, model.output.bias[:, None]), dim=1)
        if self.consistency == "none":
            return projected_cross_entropy(predictions[0], table, labels, self.smoothing)
        return projected_consistency(
            predictions[0],
            predictions[1],
            table,
            labels,
            self.smoothing,
            alpha=self.consistency_weight,
            symmetric=self.consistency == "rdrop",
            slice_rows=slice_rows(src.device.type, len(table)),
        )

    def _hidden(self, src: Tensor, tgt_in: Tensor, padded: bool) -> Tensor:
        """The decoder's output [batch, tgt, d_model] under teacher forcing."""
        model = self.model
        if not isinstance(model, Transformer):
            src_mask = padding_mask(src)
            return model.decode(tgt_in, model.encode(src, src_mask=src_mask), src_mask=src_mask)
        if isinstance(model, DecoderOnly):
            read = model.joined(src, tgt_in)
            mask = target_mask(read, causal=model.config.causal)
            if self.fused:  # padding sees itself, since the kernel has no weights for a row that sees nothing
                itself = torch.eye(read.size(1), dtype=torch.bool, device=read.device)
                mask = additive(mask | itself, self._mask_dtype(src.device.type))
            return model.decode(read, model.encode(src), src_mask=None, tgt_mask=mask)[:, -tgt_in.size(1) :]
        self_mask, cross_mask = self._masks(src, tgt_in, padded)
        memory = model.encoder(model.embed(src, side="src"), mask=cross_mask)
        x = model.embed(tgt_in, side="tgt")
        hidden: Tensor
        hidden, _ = model.decoder(x, model.decoder.project_memory(memory), self_mask=self_mask, cross_mask=cross_mask)
        return hidden

    def _masks(self, src: Tensor, tgt_in: Tensor, padded: bool) -> tuple[Mask, Mask]:
        """The masks of decoder self-attention and cross-attention; None if CUDA's faster kernel can do without them."""
        causal = self.model.config.causal
        if not self.fused:
            return target_mask(tgt_in, causal=causal), padding_mask(src)
        kind = src.device.type
        dtype = self._mask_dtype(kind)
        cross_mask = None if kind == "cuda" and not padded else additive(padding_mask(src), dtype)
        if not causal:
            return additive(padding_mask(tgt_in), dtype), cross_mask
        # A causal row cannot see the padding on its right, so padding needs no mask.
        return None if kind == "cuda" else additive(causal_mask(tgt_in.size(1), tgt_in.device), dtype), cross_mask

    def _mask_dtype(self, kind: str) -> torch.dtype:
        """The type of the scores that the kernel computes on a kind of device."""
        autocast = kind != "cpu" and torch.is_autocast_enabled(kind)
        return torch.get_autocast_dtype(kind) if autocast else self.model.output.weight.dtype
