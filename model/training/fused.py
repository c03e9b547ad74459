"""Training with PyTorch's fused attention kernel, which is fast and never computes the weights as a tensor.

Evaluation is always explicit: the model that is saved, evaluated and shown is unchanged. Training runs a twin of it
with the very same parameters.
"""

from __future__ import annotations

import copy
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.tap import Tap
from model.transformer import Transformer


class FusedAttention(MultiHeadAttention):
    """Multi-head attention by the fused kernel. A mask may also be additive, see :func:`additive`."""

    scale: ClassVar[float | None] = None  # of the scores: 1 / √d_head

    def attention(self, query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None, tap: Tap | None) -> Tensor:
        """Equation 1 in every head at once: [batch, head, query, d_head].

        Raises:
            ValueError: a tap was given, but the weights never exist.
        """
        if tap is not None:
            raise ValueError("the fused kernel does not show its weights: give a tap to the explicit model.")
        p = self.dropout_p if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=p, scale=self.scale)


class FusedUnscaledAttention(FusedAttention):
    """The same for `scale_scores=false`."""

    scale = 1.0


def fused_twin(model: Transformer) -> Transformer:
    """A twin of the model with fused attention: new modules around the very same parameters and buffers."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared)  # what `shared` holds is not copied
    for module in twin.modules():
        if isinstance(module, MultiHeadAttention):
            module.__class__ = FusedAttention if model.config.scale_scores else FusedUnscaledAttention
    return twin


def additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask as the kernel takes it without converting it in every layer: 0 where True, -inf elsewhere."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
